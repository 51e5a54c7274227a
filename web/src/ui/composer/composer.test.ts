import { afterEach, describe, expect, test, vi } from 'vitest'
import type { VueWrapper } from '@vue/test-utils'
import type { CommandView, ComposerAttachment } from '@/view/types'
import { show } from '../testing'
import { matchCommands } from './commands'
import ComposerBox from './ComposerBox.vue'

const COMMANDS: CommandView[] = [
  { name: '/compact', hint: '[instructions]', description: '' },
  { name: '/clear', hint: '', description: '' },
  { name: '/tree', hint: '', description: '' },
]

let box: VueWrapper

function composer(text: string, changes: Record<string, unknown> = {}) {
  box = show(ComposerBox, {
    modelValue: text,
    'onUpdate:modelValue': (modelValue: string) => box.setProps({ modelValue }),
    attachments: [],
    commands: COMMANDS,
    run: 'idle',
    disabledReason: null,
    ...changes,
  })
  return { field: box.get('textarea'), text: () => (box.get('textarea').element as HTMLTextAreaElement).value }
}

afterEach(() => box.unmount())

describe('keys', () => {
  test('Enter sends, with Alt it queues, with Shift it breaks the line', async () => {
    const { field } = composer('hello')
    await field.trigger('keydown', { key: 'Enter' })
    await field.trigger('keydown', { key: 'Enter', altKey: true })
    await field.trigger('keydown', { key: 'Enter', shiftKey: true })
    expect(box.emitted('send')).toEqual([['auto'], ['queue']])
  })

  test('on a touch screen Enter breaks the line, and the button sends', async () => {
    vi.stubGlobal('matchMedia', (query: string) => ({
      matches: query === '(pointer: coarse)',
      addEventListener: () => {},
      removeEventListener: () => {},
    }))
    const { field } = composer('hello', { run: 'running' })
    vi.unstubAllGlobals()
    const event = new KeyboardEvent('keydown', { key: 'Enter', cancelable: true })
    field.element.dispatchEvent(event)
    expect(event.defaultPrevented).toBe(false)
    expect(box.emitted('send')).toBeUndefined()
    expect(field.attributes('enterkeyhint')).toBe('enter')
    expect(box.get('.hint').text()).toContain('Send adds the message to this run')
    await field.trigger('keydown', { key: 'Enter', ctrlKey: true })
    await box.get('form').trigger('submit')
    expect(box.emitted('send')).toEqual([['auto'], ['auto']])
  })

  test('an input method keeps its Enter', async () => {
    const { field } = composer('nihao')
    await field.trigger('keydown', { key: 'Enter', isComposing: true })
    await field.trigger('keydown', { key: 'Enter', keyCode: 229 })
    expect(box.emitted('send')).toBeUndefined()
  })

  test('Up edits the last message only when the field is empty', async () => {
    const { field } = composer('')
    await field.trigger('keydown', { key: 'ArrowUp' })
    await field.setValue('text')
    await field.trigger('keydown', { key: 'ArrowUp' })
    expect(box.emitted('editLast')).toHaveLength(1)
  })

  test('earlier messages come back into an empty field, one after the other, and never in the place of what was written', async () => {
    const { field, text } = composer('', { earlier: () => ['first', 'second'] })
    const press = async (key: string) => {
      await field.trigger('keydown', { key, ctrlKey: true })
      return text()
    }
    expect(await press('ArrowDown')).toBe('')
    expect(await press('ArrowUp')).toBe('second')
    expect(await press('ArrowUp')).toBe('first')
    expect(await press('ArrowUp')).toBe('first')
    expect(await press('ArrowDown')).toBe('second')
    expect(await press('ArrowDown')).toBe('')
    await press('ArrowUp')
    await field.setValue('second, changed')
    expect(await press('ArrowUp')).toBe('second, changed')
    expect(box.emitted('editLast')).toBeUndefined()
  })

  test('Escape leaves the text alone', async () => {
    const { field, text } = composer('/com')
    await field.trigger('keydown', { key: 'Escape' })
    await field.trigger('keydown', { key: 'Escape' })
    expect(text()).toBe('/com')
  })
})

describe('what cannot be sent', () => {
  const file = (state: ComposerAttachment['state']): ComposerAttachment => ({
    key: 'a',
    name: 'a.png',
    mimeType: 'image/png',
    bytes: 1,
    kind: null,
    preview: null,
    state,
    progress: 0,
    problem: null,
    canRetry: false,
  })

  test.each([
    ['nothing', '', {}],
    ['blanks', ' \n ', {}],
    ['while off', 'text', { disabledReason: 'offline' }],
    ['before a file has arrived', 'text', { attachments: [file('uploading')] }],
  ])('%s', async (_name, text, changes) => {
    const { field } = composer(text, changes)
    await field.trigger('keydown', { key: 'Enter' })
    expect(box.emitted('send')).toBeUndefined()
    expect(box.get('button[type=submit]').attributes('disabled')).toBeDefined()
  })

  test('a file alone can', async () => {
    composer('', { attachments: [file('ready')] })
    await box.get('form').trigger('submit')
    expect(box.emitted('send')).toEqual([['auto']])
  })

  test('the reason is the description of the field', () => {
    const { field } = composer('text', { disabledReason: 'The network is down.' })
    expect(box.get(`#${field.attributes('aria-describedby')}`).text()).toBe('The network is down.')
  })
})

describe('commands', () => {
  test('fit while nothing but the beginning of one is typed', () => {
    const names = (text: string) => matchCommands(COMMANDS, text).map((command) => command.name)
    expect(names('/c')).toEqual(['/compact', '/clear'])
    expect(names('/re')).toEqual(['/tree'])
    expect(names('/compact now')).toEqual([])
    expect(names('see /c')).toEqual([])
  })

  test('are chosen by keys; the field keeps the focus', async () => {
    const { field, text } = composer('/c')
    expect(box.findAll('[role=option]').map((option) => option.attributes('aria-selected'))).toEqual(['true', 'false'])
    await field.trigger('keydown', { key: 'ArrowDown' })
    expect(field.attributes('aria-activedescendant')).toBe(box.get('[aria-selected=true]').attributes('id'))
    await field.trigger('keydown', { key: 'Enter' })
    expect(text()).toBe('/clear')
    expect(box.emitted('send')).toBeUndefined()
    await field.trigger('keydown', { key: 'Enter' })
    expect(box.emitted('send')).toEqual([['auto']])
  })

  describe('of two words', () => {
    const skill = (name: string) => ({ name: `/skill ${name}`, hint: '[task]', description: '' })
    const commands = [
      ...COMMANDS,
      { name: '/skill', hint: 'name', description: '' },
      skill('folder-audit'),
      skill('compare'),
    ]
    const names = (text: string) => matchCommands(commands, text).map((command) => command.name)

    test('come up when the first is written, or enough of the second', () => {
      expect(names('/s')).not.toContain('/skill compare')
      expect(names('/skill ')).toEqual(['/skill folder-audit', '/skill compare'])
      expect(names('/skill aud')).toEqual(['/skill folder-audit'])
      expect(names('/comp')).toEqual(['/compact', '/skill compare'])
      expect(names('/skill folder-audit now')).toEqual([])
    })

    test('are completed one word after the other', async () => {
      const { field, text } = composer('/ski', { commands })
      await field.trigger('keydown', { key: 'Enter' })
      expect(text()).toBe('/skill ')
      await field.trigger('keydown', { key: 'ArrowDown' })
      await field.trigger('keydown', { key: 'Enter' })
      expect(text()).toBe('/skill compare ')
      expect(box.find('[role=listbox]').exists()).toBe(false)
      expect(box.emitted('send')).toBeUndefined()
    })
  })

  test('that do not exist are refused with those that may have been meant', async () => {
    const { field, text } = composer('/tre now', {
      refusal: { text: 'Unknown command /tre.', suggestions: ['/tree'] },
    })
    expect(box.get(`#${field.attributes('aria-describedby')}`).text()).toMatch(/Unknown command \/tre\.\s*\/tree/)
    await box.get('.suggestion').trigger('click')
    expect(text()).toBe('/tree')
  })

  test('that take words leave room for them', async () => {
    const { field, text } = composer('/comp')
    await field.trigger('keydown', { key: 'Tab' })
    expect(text()).toBe('/compact ')
  })

  test('Escape closes the list and is not heard outside', async () => {
    const { field } = composer('/c')
    const heard: string[] = []
    document.body.addEventListener('keydown', (event) => heard.push(event.key), { once: true })
    await field.trigger('keydown', { key: 'Escape' })
    expect(box.find('[role=listbox]').exists()).toBe(false)
    expect(heard).toEqual([])
    await field.setValue('/cl')
    expect(box.find('[role=listbox]').exists()).toBe(true)
  })
})

describe('files', () => {
  const png = new File(['x'], 'a.png', { type: 'image/png' })

  test('are pasted and dropped', async () => {
    const { field } = composer('')
    await field.trigger('paste', { clipboardData: { files: [png], types: ['Files'] } })
    await box.get('form').trigger('drop', { dataTransfer: { files: [png], types: ['Files'] } })
    expect(box.emitted('addFiles')).toEqual([[[png]], [[png]]])
  })

  test('a picture beside text is not meant', async () => {
    const { field } = composer('')
    await field.trigger('paste', { clipboardData: { files: [png], types: ['text/plain', 'Files'] } })
    expect(box.emitted('addFiles')).toBeUndefined()
  })

  const failed = {
    key: 'a',
    name: 'a.png',
    mimeType: '',
    bytes: 1,
    kind: null,
    preview: null,
    state: 'failed',
    progress: 0,
  }

  test('that cannot be uploaded say why, and nothing else is waited for', () => {
    const problem = 'a.png is too large: the limit is 20 MB'
    const { field } = composer('text', { attachments: [{ ...failed, problem, canRetry: false }] })
    expect(box.get('.item [role=alert]').text()).toBe(problem)
    expect(box.find('[aria-label="Upload a.png again"]').exists()).toBe(false)
    expect(box.get(`#${field.attributes('aria-describedby')}`).text()).toContain('Remove the files')
    expect(box.text()).not.toContain('Uploading files')
  })

  test('say before they are sent that the model gets only their names', () => {
    composer('', {
      attachments: [
        {
          key: 'a',
          name: 'a.pdf',
          mimeType: 'application/pdf',
          bytes: 1,
          kind: 'other',
          preview: null,
          state: 'ready',
          progress: 1,
          problem: null,
          canRetry: false,
        },
      ],
    })
    expect(box.get('.item .detail').text()).toContain('File only')
    expect(box.get('.item').attributes('title')).toContain('not its content')
  })

  test('are removed and sent again', async () => {
    composer('', {
      attachments: [{ ...failed, problem: 'no', canRetry: true }],
    })
    await box.get('[aria-label="Upload a.png again"]').trigger('click')
    await box.get('[aria-label="Remove a.png"]').trigger('click')
    expect(box.emitted('retryAttachment')).toEqual([['a']])
    expect(box.emitted('removeAttachment')).toEqual([['a']])
  })
})

describe('Send and Stop', () => {
  const labels = () => box.findAll('.round').map((button) => button.attributes('aria-label'))

  test('show what the server says', async () => {
    composer('')
    expect(labels()).toEqual(['Send'])
    await box.setProps({ run: 'running' })
    expect(labels()).toEqual(['Stop'])
    await box.get('[aria-label=Stop]').trigger('click')
    expect(box.emitted('stop')).toHaveLength(1)
    await box.setProps({ run: 'stopping' })
    expect(labels()).toEqual(['Stopping…'])
    expect(box.get('.round').attributes('disabled')).toBeDefined()
  })

  test('a text can be added while it runs, queued, or answer a question', async () => {
    composer('more', { run: 'running' })
    expect(labels()).toEqual(['Stop', 'Send'])
    expect(box.get('.hint').text()).toContain('Enter adds the message to this run')
    await box.get('.hint button').trigger('click')
    expect(box.emitted('send')).toEqual([['queue']])
    await box.setProps({ answers: true })
    expect(box.get('.hint').text()).toContain('Enter answers the question')
  })
})
