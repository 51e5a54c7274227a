// @vitest-environment jsdom
import { flushPromises, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { defineComponent, h, type PropType } from 'vue'
import type { ActivityRow, AnswerPart, AssistantRow, CompactionRow, TranscriptRow, UserRow } from '@/view/types'
import { provideOpened } from '../composables/useOpened'
import { show } from '../testing'
import MessageRow from './MessageRow.vue'

let row: VueWrapper
afterEach(() => row.unmount())

const base = { entryId: 'e1', branch: null, label: null, at: 0 }
const user = (changes: Partial<UserRow> = {}): UserRow => ({
  ...base,
  kind: 'user',
  key: 'u',
  text: 'hello',
  images: [],
  files: [],
  steered: false,
  unseenBy: null,
  ...changes,
})
const answer = (changes: Partial<AssistantRow> = {}): AssistantRow => ({
  ...base,
  kind: 'assistant',
  key: 'a',
  parts: [{ kind: 'text', key: '1', text: 'An **answer**', open: false, cut: false, definitions: '' }],
  streaming: false,
  continues: false,
  cut: false,
  above: [],
  ends: true,
  provider: 'p',
  model: 'model-1',
  stopReason: 'stop',
  cutBy: null,
  errorMessage: null,
  advised: false,
  remedies: [],
  channel: null,
  usage: { inputTokens: 1000, outputTokens: 234, cacheReadTokens: 0, totalTokens: 1234, cost: 0.0123 },
  ...changes,
})
const draw = (value: TranscriptRow, props: Record<string, unknown> = {}) =>
  (row = show(MessageRow, { row: value, ...props }))
const button = (label: string) => row.get(`button[aria-label="${label}"]`)
const intents = () => row.emitted('intent')?.map(([intent]) => intent)

describe('an answer', () => {
  beforeEach(() => {
    Object.defineProperty(navigator, 'clipboard', { value: { writeText: vi.fn(async () => {}) }, configurable: true })
  })

  test('is copied as it was written, and given again', async () => {
    draw(answer())
    await button('Copy').trigger('click')
    expect(navigator.clipboard.writeText).toHaveBeenCalledWith('An **answer**')
    await button('Regenerate').trigger('click')
    expect(intents()).toEqual([{ type: 'retry' }])
    expect(row.get('.meta').text()).toContain('model-11.2k tokens$0.012')
  })

  test('cannot be left while a run writes', () => {
    draw(answer({ branch: { index: 1, count: 3, ids: ['x', 'y', 'z'] } }), { busy: true })
    expect(button('Regenerate').attributes('disabled')).toBeDefined()
    expect(button('Next version').attributes('disabled')).toBeDefined()
  })

  test('has no actions while it is written', () => {
    draw(answer({ streaming: true, parts: [] }))
    expect(row.attributes('aria-busy')).toBe('true')
    expect(row.find('.actions').exists()).toBe(false)
    expect(row.find('.dots').exists()).toBe(true)
  })

  test('that failed says what to do', async () => {
    draw(answer({ stopReason: 'error', errorMessage: '429 rate limit', parts: [] }))
    expect(row.get('[role=alert]').text()).toContain('rate limit is reached')
    await row.get('[role=alert] button').trigger('click')
    expect(intents()).toEqual([{ type: 'retry' }])
  })

  test('walks among its versions', async () => {
    draw(answer({ branch: { index: 0, count: 2, ids: ['x', 'y'] } }))
    expect(button('Previous version').attributes('disabled')).toBeDefined()
    await button('Next version').trigger('click')
    expect(intents()).toEqual([{ type: 'switchBranch', entryId: 'y' }])
  })

  test('folds its thinking', async () => {
    const thinking: AnswerPart = {
      kind: 'thinking',
      key: 't',
      text: 'hmm',
      open: false,
      durationMs: 12_345,
      startedAt: null,
      redacted: false,
    }
    draw(answer({ parts: [thinking] }))
    expect(row.get('.thinking').text()).toBe('Thought for 12 s')
    await row.get('.thinking button').trigger('click')
    expect(row.get('.thinking .nc-prose').text()).toBe('hmm')
  })
})

describe('a label', () => {
  async function openField() {
    await button('More').trigger('click')
    await flushPromises()
    const [label] = row.findAll('[role=menuitem]')
    await label!.trigger('click')
    return row.get('input')
  }

  test('is given by the menu', async () => {
    draw(answer())
    const field = await openField()
    await field.setValue(' good ')
    await field.trigger('keydown', { key: 'Enter', isComposing: true })
    await field.trigger('keydown', { key: 'Enter' })
    expect(intents()).toEqual([{ type: 'label', label: 'good' }])
  })

  test('is kept when the field is left, and not on Escape', async () => {
    draw(answer({ label: 'old' }))
    await row.get('.chip').trigger('click')
    await row.get('input').setValue('lost')
    await row.get('input').trigger('keydown', { key: 'Escape' })
    await row.get('.chip').trigger('click')
    await row.get('input').setValue('new')
    await row.get('input').trigger('blur')
    expect(intents()).toEqual([{ type: 'label', label: 'new' }])
  })

  test('is taken away by emptying it', async () => {
    draw(answer({ label: 'old' }))
    await row.get('.chip').trigger('click')
    await row.get('input').setValue('')
    await row.get('input').trigger('keydown', { key: 'Enter' })
    expect(intents()).toEqual([{ type: 'label', label: '' }])
  })

  test('is text, whatever it says', () => {
    draw(answer({ label: '<img src=x onerror=pwned()>' }))
    expect(row.find('img').exists()).toBe(false)
  })
})

test('the menu is walked by keys and gives the focus back', async () => {
  draw(answer())
  await button('More').trigger('keydown', { key: 'ArrowDown' })
  await flushPromises()
  const items = row.findAll('[role=menuitem]')
  expect(document.activeElement).toBe(items[0]!.element)
  await items[0]!.trigger('keydown', { key: 'ArrowUp' })
  expect(document.activeElement).toBe(items[2]!.element)
  await items[2]!.trigger('keydown', { key: 'f' })
  expect(document.activeElement).toBe(items[1]!.element)
  await items[1]!.trigger('keydown', { key: 'Escape' })
  expect(row.find('[role=menu]').exists()).toBe(false)
  expect(document.activeElement).toBe(button('More').element)
})

describe('a message of the user', () => {
  test('is edited into a new version', async () => {
    draw(user())
    await button('Edit').trigger('click')
    expect(intents()).toEqual([{ type: 'startEdit' }])
    await row.setProps({ editing: true })
    const field = row.get('textarea')
    await field.setValue('hello again')
    await field.trigger('keydown', { key: 'Enter', isComposing: true })
    await field.trigger('keydown', { key: 'Escape' })
    await field.trigger('keydown', { key: 'Enter' })
    expect(intents()?.slice(1)).toEqual([{ type: 'edit', text: 'hello again' }])
  })

  test('that was not changed asks for another answer to it', async () => {
    draw(user(), { editing: true })
    const send = row.get('[data-kind=primary]')
    expect(send.text()).toBe('Regenerate')
    expect(send.attributes('disabled')).toBeUndefined()
    await row.get('textarea').trigger('keydown', { key: 'Enter' })
    expect(intents()).toEqual([{ type: 'retry' }])
  })

  test('that nothing has answered offers an answer', async () => {
    draw(user())
    expect(row.text()).not.toContain('Get an answer')
    await row.setProps({ unanswered: true })
    await row.get('.answer').trigger('click')
    expect(intents()).toEqual([{ type: 'retry' }])
  })

  test('Escape closes what was not changed', async () => {
    draw(user(), { editing: true })
    await row.get('textarea').trigger('keydown', { key: 'Escape' })
    expect(intents()).toEqual([{ type: 'cancelEdit' }])
  })

  test('that is long is folded', async () => {
    draw(user({ text: 'x\n'.repeat(30) }))
    expect(row.get('.text').attributes('data-folded')).toBe('true')
    await row.get('.more').trigger('click')
    expect(row.get('.text').attributes('data-folded')).toBeUndefined()
  })

  test('is plain text', () => {
    draw(user({ text: '<b>**x**</b>' }))
    expect(row.get('.text').text()).toBe('<b>**x**</b>')
  })

  test('that did not arrive can be sent again or dropped', async () => {
    draw({
      ...base,
      entryId: null,
      kind: 'pending',
      key: 'p',
      requestId: 'r',
      text: 'x',
      images: [],
      files: [],
      state: 'failed',
      problem: 'Too large.',
    })
    expect(row.get('[role=alert]').text()).toContain('Too large.')
    for (const link of row.findAll('.link')) await link.trigger('click')
    expect(intents()).toEqual([{ type: 'resend' }, { type: 'discard' }])
  })

  test('shows its files by name and opens its images', async () => {
    draw(
      user({
        images: [{ key: 'i', src: '/admin/1', alt: 'cat' }],
        files: [
          { key: 'f', name: '"><script>.txt', mimeType: 'text/plain', bytes: 2048, href: '/admin/2', fileOnly: false },
        ],
      }),
    )
    expect(row.get('.file').text()).toBe('"><script>.txt2.0 kB')
    await row.get('.image').trigger('click')
    expect(intents()).toMatchObject([{ type: 'openImage', image: { alt: 'cat' } }])
  })
})

test('finished activity is one line', async () => {
  const activity: ActivityRow = {
    ...base,
    kind: 'activity',
    key: 'x',
    answer: null,
    live: false,
    toolCount: 3,
    thinkingCount: 1,
    durationMs: 61_000,
    tools: [
      { name: 'read', label: 'Read', count: 2 },
      { name: 'ls', label: 'List', count: 1 },
    ],
    parts: [{ kind: 'text', key: '1', text: 'inside', open: false, cut: false, definitions: '' }],
  }
  draw(activity)
  expect(row.text()).toBe('Used 3 tools: Read file ×2, List directory1 min 1 s')
  await row.get('button').trigger('click')
  expect(row.text()).toContain('inside')
})

describe('steps under way', () => {
  const steps = (live: boolean): ActivityRow => ({
    ...base,
    kind: 'activity',
    key: 'x',
    answer: null,
    live,
    toolCount: 1,
    thinkingCount: 1,
    durationMs: null,
    tools: [{ name: 'read', label: 'Read', count: 1 }],
    parts: [
      { kind: 'thinking', key: 'p1', text: 'a thought', open: false, durationMs: 5, startedAt: null, redacted: false },
    ],
  })
  /** A parent that keeps choices, as the transcript does. */
  const Around = defineComponent({
    props: { row: { type: Object as PropType<ActivityRow>, required: true } },
    setup(props) {
      provideOpened()
      return () => h(MessageRow, { row: props.row })
    },
  })
  const line = () => row.find('.line')

  test('are seen as they are, and are one line when they are over', async () => {
    row = show(Around, { row: steps(true) })
    expect(line().exists()).toBe(false)
    await row.setProps({ row: steps(false) })
    expect(line().attributes('aria-expanded')).toBe('false')
    expect(row.find('.thinking').exists()).toBe(false)
  })

  test('thinking alone opens with one click', async () => {
    row = show(Around, { row: { ...steps(false), toolCount: 0, tools: [] } })
    expect(line().exists()).toBe(false)
    await row.get('.thinking .title').trigger('click')
    expect(row.text()).toContain('a thought')
  })

  test('stay expanded while the pointer is over them', async () => {
    row = show(Around, { row: steps(true) })
    const head = row.get('.thinking .title').element
    await row.get('.activity').trigger('pointerenter', { pointerType: 'mouse' })
    await row.setProps({ row: steps(false) })
    expect(row.get('.thinking .title').element).toBe(head)
    expect(line().exists()).toBe(false)
    await row.get('.activity').trigger('pointerleave', { pointerType: 'mouse' })
    expect(line().attributes('aria-expanded')).toBe('false')
  })

  test('stay open when one of them was opened, also in another row', async () => {
    row = show(Around, { row: steps(true) })
    await row.get('.thinking .title').trigger('click')
    await row.setProps({ row: steps(false) })
    expect(line().attributes('aria-expanded')).toBe('true')
    expect(row.text()).toContain('a thought')
    await row.setProps({ row: { ...steps(false), key: 'y' } })
    expect(row.text()).toContain('a thought')
    await line().trigger('click')
    expect(row.text()).not.toContain('a thought')
  })
})

const compaction = (changes: Partial<CompactionRow>): CompactionRow => ({
  ...base,
  kind: 'compaction',
  key: 'c',
  state: 'done',
  reason: null,
  summary: '',
  tokensBefore: null,
  tokensAfter: null,
  messageCount: null,
  problem: null,
  isFault: false,
  canRetry: false,
  canDismiss: false,
  retryAt: null,
  stage: null,
  undoTo: null,
  about: null,
  ...changes,
})

test('a compaction that failed says why, when it is tried again, and lets one try now', async () => {
  draw(
    compaction({
      state: 'error',
      isFault: true,
      canRetry: true,
      canDismiss: true,
      retryAt: new Date(2026, 10, 16, 10, 5, 7).getTime(),
      problem: 'No answer.',
    }),
  )
  expect(row.text()).toContain('Compaction failed.No answer.Automatic retry at 10:05:07.')
  await row.get('button').trigger('click')
  await row.get('[aria-label=Dismiss]').trigger('click')
  expect(intents()).toEqual([{ type: 'compact' }, { type: 'dismissCompaction' }])
})

test('a running compaction shows its progress, and a branch that was not left is shown as such', () => {
  draw(
    compaction({
      state: 'running',
      reason: 'auto',
      messageCount: 84,
      stage: { stage: 'summarizing', part: 2, parts: 3 },
    }),
  )
  expect(row.text()).toContain('Compacting 84 older messages…automaticpart 2 of 3')
  draw(compaction({ state: 'running', reason: 'branch', messageCount: 4, stage: { stage: 'saving' } }))
  expect(row.text()).toContain('Summarizing the current branch…saving')
  draw(compaction({ state: 'error', reason: 'branch', isFault: true, problem: 'No answer.' }))
  expect(row.text()).toBe('The branch was not switched.No answer.')
})

test('that there was nothing to compact is no failure', () => {
  draw(compaction({ state: 'error', problem: 'Nothing to fold.' }))
  expect(row.text()).toBe('Nothing to fold.')
  expect(row.find('button').exists()).toBe(false)
})

test('a compaction can be undone, but not while a run writes', async () => {
  draw(compaction({ undoTo: 'e7' }))
  await row.get('button').trigger('click')
  expect(intents()).toEqual([{ type: 'continueFrom', entryId: 'e7' }])
  await row.setProps({ busy: true })
  expect(row.get('button').attributes('disabled')).toBeDefined()
})

test('what is folded can be shown', async () => {
  draw({ ...base, kind: 'folded', key: 'f', count: 12, isOpen: false })
  expect(row.text()).toContain('12 earlier entries compacted')
  expect(row.get('button').attributes('aria-expanded')).toBe('false')
  await row.get('button').trigger('click')
  expect(intents()).toEqual([{ type: 'toggleFolded' }])
})

test('a compaction is not the assistant speaking', async () => {
  draw(compaction({ summary: 'short', tokensBefore: 152_300, tokensAfter: 18_900, messageCount: 1 }))
  expect(row.attributes('role')).toBe('note')
  expect(row.text()).toContain('1 older message compacted152k → 18.9k tokens')
  expect(row.text()).not.toContain('short')
  await row.get('button').trigger('click')
  expect(intents()).toEqual([{ type: 'openSummary' }])
})

describe('what went wrong', () => {
  test('has buttons that do what it advises', async () => {
    draw(answer({ stopReason: 'error', errorMessage: 'No key.', remedies: ['channel', 'continue'], channel: 'work' }))
    const buttons = row.findAll('.ways button')
    expect(buttons.map((item) => item.text())).toEqual(['Retry', 'Open the channel', 'Continue'])
    await buttons[1]!.trigger('click')
    await buttons[2]!.trigger('click')
    expect(intents()).toEqual([
      { type: 'remedy', remedy: 'channel', channel: 'work' },
      { type: 'remedy', remedy: 'continue', channel: 'work' },
    ])
  })

  test('says that a model did not receive an image, and of which file it got only the name', () => {
    const image = { key: 'i', src: 'data:,', alt: 'a.png' }
    const file = { key: 'f', name: 'a.pdf', mimeType: 'application/pdf', bytes: 1, href: null, fileOnly: true }
    draw(user({ images: [image], files: [file], unseenBy: 'blind' }))
    expect(row.text()).toContain('“blind” did not receive this image.')
    expect(row.get('.file').text()).toContain('File only')
  })
})
