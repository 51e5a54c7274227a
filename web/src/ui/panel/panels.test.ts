// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { VueWrapper } from '@vue/test-utils'
import type { ScopeChoice } from '@/view/standing'
import type { ApprovalView, QuestionView, QueueRow } from '@/view/types'
import { show } from '../testing'
import PanelApproval from './PanelApproval.vue'
import PanelQuestion from './PanelQuestion.vue'
import PanelQueue from './PanelQueue.vue'
import PanelTodo from './PanelTodo.vue'

let panel: VueWrapper
afterEach(() => panel.unmount())

describe('queue', () => {
  const row = (id: string, changes: Partial<QueueRow> = {}): QueueRow => ({
    key: id,
    itemId: id,
    text: `text ${id}`,
    attachmentNames: [],
    mode: 'queue',
    queuedAt: 0,
    pending: false,
    ...changes,
  })
  const queue = (held = false) =>
    (panel = show(PanelQueue, {
      queue: { held, rows: [row('a'), row('b'), row('c', { itemId: null, pending: true })] },
    }))

  test('is moved by buttons and by hand', async () => {
    queue()
    await panel.findAll('[aria-label="Move down"]')[0]!.trigger('click')
    await panel.findAll('.grip')[1]!.trigger('dragstart')
    await panel.findAll('li')[0]!.trigger('drop')
    expect(panel.emitted('reorder')).toEqual([[['b', 'a']], [['b', 'a']]])
  })

  test('is edited; Escape destroys nothing', async () => {
    queue()
    await panel.findAll('[aria-label=Edit]')[0]!.trigger('click')
    const field = panel.get('textarea')
    await field.setValue('changed')
    await field.trigger('keydown', { key: 'Escape' })
    expect((panel.get('textarea').element as HTMLTextAreaElement).value).toBe('changed')
    await field.trigger('keydown', { key: 'Enter' })
    expect(panel.emitted('edit')).toEqual([['a', 'changed']])
    expect(panel.find('textarea').exists()).toBe(false)
  })

  test('items on their way cannot be touched', () => {
    queue()
    expect(panel.findAll('[aria-label=Remove]').map((button) => button.attributes('disabled') !== undefined)).toEqual([
      false,
      false,
      true,
    ])
  })

  test('a message of another version says so and can only be moved and removed', () => {
    panel = show(PanelQueue, { queue: { held: false, rows: [row('a', { unsupported: true })] } })
    expect(panel.text()).toContain('other version')
    expect(panel.get('[aria-label=Remove]').attributes('disabled')).toBeUndefined()
    expect(panel.get('[aria-label=Edit]').attributes('disabled')).toBeDefined()
  })

  test('a held queue goes on when told', async () => {
    queue(true)
    expect(panel.text()).toContain('Paused by stop')
    await panel.get('header button').trigger('click')
    expect(panel.emitted('resume')).toHaveLength(1)
  })
})

describe('question', () => {
  const question = (changes: Partial<QuestionView> = {}): QuestionView => ({
    id: 'q1',
    toolCallId: 't',
    question: 'Which **one**?',
    options: ['red', 'green', 'blue'],
    multi: false,
    expiresAt: null,
    state: 'open',
    answer: null,
    problem: null,
    ...changes,
  })
  const ask = (changes: Partial<QuestionView> = {}) => (panel = show(PanelQuestion, { question: question(changes) }))

  test('is answered by a digit', async () => {
    ask()
    await panel.trigger('keydown', { key: '2' })
    await panel.trigger('keydown', { key: '9' })
    expect(panel.emitted('answer')).toEqual([['q1', 'green']])
  })

  test('a digit in the field is text', async () => {
    ask()
    await panel.get('input').trigger('keydown', { key: '2' })
    expect(panel.emitted('answer')).toBeUndefined()
  })

  test('takes several options and own words', async () => {
    ask({ multi: true })
    await panel.trigger('keydown', { key: '1' })
    await panel.trigger('keydown', { key: '3' })
    await panel.trigger('keydown', { key: '1' })
    expect(panel.findAll('.option').map((option) => option.attributes('aria-pressed'))).toEqual([
      'false',
      'false',
      'true',
    ])
    await panel.get('input').setValue('and pink')
    await panel.get('form').trigger('submit')
    expect(panel.emitted('answer')).toEqual([['q1', 'blue\nand pink']])
  })

  test.each(['expired', 'readonly'] as const)('%s: readable, answered by a message', async (state) => {
    ask({ state })
    expect(panel.text()).toContain('Which one?')
    expect(panel.findAll('.option').every((option) => option.attributes('disabled') !== undefined)).toBe(true)
    await panel.trigger('keydown', { key: '1' })
    await panel.get('input').setValue('late answer')
    await panel.get('form').trigger('submit')
    expect(panel.emitted('answer')).toBeUndefined()
    expect(panel.emitted('sendAsMessage')).toEqual([['late answer']])
  })

  test('an answer on its way is marked, and takes no second one', async () => {
    ask({ state: 'answering', answer: 'green' })
    expect(panel.find('form').exists()).toBe(false)
    expect(panel.get('[data-chosen]').text()).toContain('green')
    await panel.trigger('keydown', { key: '1' })
    expect(panel.emitted('answer')).toBeUndefined()
  })

  test('options are read without the marks of Markdown, and answered as they were given', async () => {
    ask({ options: ['**red**, as `#f00`', '[blue](https://b.example)'] })
    expect(panel.findAll('.option .label').map((label) => label.html())).toEqual([
      expect.stringContaining('<strong>red</strong>, as <code>#f00</code>'),
      expect.stringMatching(/>blue</),
    ])
    expect(panel.findAll('.option a')).toEqual([])
    await panel.findAll('.option')[0]!.trigger('click')
    expect(panel.emitted('answer')).toEqual([['q1', '**red**, as `#f00`']])
  })

  describe('that expires', () => {
    beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
    afterEach(() => void vi.useRealTimers())

    test('counts down', async () => {
      ask({ expiresAt: 1_000_000 + 65_000 })
      expect(panel.text()).toContain('Expires in 1 min 5 s')
      await vi.advanceTimersByTimeAsync(6000)
      expect(panel.text()).toContain('Expires in 59 s')
    })
  })
})

describe('an approval', () => {
  const approval: ApprovalView = {
    id: 'p1',
    toolCallId: 'c1',
    toolName: 'bash',
    label: { zh: '命令行', en: 'Shell' },
    risk: 'exec',
    choices: [],
    askedAt: 1,
    isAnswering: false,
    problem: null,
    what: { kind: 'command', text: 'rm -rf /' },
    args: '{ "timeout": 5 }',
    foreign: null,
  }
  const ask = (changes: Partial<ApprovalView> = {}) =>
    (panel = show(PanelApproval, { approval: { ...approval, ...changes } }))
  const button = (text: string) => panel.findAll('button').find((one) => one.text().startsWith(text))!

  test('says why it asks and where the call goes', () => {
    ask()
    expect(panel.text()).not.toContain('external content')
    const sources = [
      { kind: 'web', name: 'a.example' },
      { kind: 'mcp', name: 'files' },
      { kind: 'file', name: '' },
    ] as const
    ask({ foreign: { sources, destination: 'https://b.example/?q=1' } })
    expect(panel.text()).toContain(
      'This session has read external content: a.example, MCP server files, an attached file.',
    )
    expect(panel.text()).toContain('https://b.example/?q=1')
  })

  test('shows what would run and takes one of three answers', async () => {
    ask()
    expect(panel.text()).toContain('rm -rf /')
    expect(panel.text()).toContain('"timeout": 5')
    await button('Allow once').trigger('click')
    await button('Allow for this session').trigger('click')
    await button('Deny').trigger('click')
    await panel.get('input').setValue(' not there ')
    await button('Deny').trigger('submit')
    expect(panel.emitted('decide')).toEqual([
      ['p1', 'once', '', null],
      ['p1', 'session', '', null],
      ['p1', 'deny', 'not there', null],
    ])
  })

  test('is decided by keys with the focus in it, not by one that is held down', async () => {
    ask()
    await panel.get('section').trigger('keydown', { key: '1', repeat: true })
    await panel.get('section').trigger('keydown', { key: 'Enter' })
    expect(panel.emitted('decide')).toBeUndefined()
    await panel.get('section').trigger('keydown', { key: '2' })
    expect(panel.emitted('decide')).toEqual([['p1', 'session', '', null]])
  })

  const choices: ScopeChoice[] = [
    { key: 'a', scope: { kind: 'commands', patterns: ['git *'] }, within: ['session', 'agent'] },
    { key: 'b', scope: { kind: 'tool' }, within: ['session', 'agent'] },
  ]

  test('allows more: what is granted is shown, and can be made narrower', async () => {
    ask({ choices })
    await button('Allow more').trigger('click')
    expect(panel.text()).toContain('every call of Shell')
    await panel.get<HTMLInputElement>('input[type=text]').setValue('git status *')
    await panel.get('input[value=agent]').setValue()
    await panel.get('form').trigger('submit')
    const grant = { scope: { kind: 'commands', patterns: ['git status *'] }, within: 'agent' }
    expect(panel.emitted('decide')).toEqual([['p1', 'grant', '', grant]])
  })

  test('Escape takes one step back and decides nothing', async () => {
    ask({ choices })
    await button('Allow more').trigger('click')
    await panel.get('form').trigger('keydown', { key: 'Escape' })
    expect(panel.find('form').exists()).toBe(false)
    await panel.get('section').trigger('keydown', { key: 'Escape' })
    expect(panel.emitted('leave')).toHaveLength(1)
    expect(panel.emitted('decide')).toBeUndefined()
  })

  test('its numbers are pressed from elsewhere only after a moment, and if they are shown', async () => {
    vi.useFakeTimers()
    panel = show(PanelApproval, { approval: { ...approval, choices }, keys: 'plain' })
    const press = (number: number): boolean =>
      (panel.findComponent(PanelApproval).vm as unknown as { press: (number: number) => boolean }).press(number)
    expect(press(1)).toBe(false)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(panel.text()).toContain('Allow once1')
    expect(press(5)).toBe(false)
    expect(press(1)).toBe(true)
    expect(panel.emitted('decide')).toHaveLength(1)
    await panel.setProps({ keys: 'alt' })
    expect(panel.text()).toContain('Allow onceAlt+1')
    expect(panel.text()).toContain('the keys on them')
    await panel.setProps({ keys: 'none' })
    expect(panel.text()).not.toContain('the keys on them')
    expect(press(1)).toBe(false)
    vi.useRealTimers()
  })

  test('does not speak of keys on a touch screen', () => {
    vi.stubGlobal('matchMedia', (query: string) => ({
      matches: query === '(pointer: coarse)',
      addEventListener: () => {},
      removeEventListener: () => {},
    }))
    panel = show(PanelApproval, { approval: { ...approval, choices }, keys: 'plain' })
    vi.unstubAllGlobals()
    expect(panel.find('kbd').exists()).toBe(false)
    expect(panel.text()).toContain('Only these buttons approve or deny.')
  })

  test('takes no second answer, and says what went wrong', async () => {
    ask({ isAnswering: true, problem: 'decided in another window' })
    await panel.get('section').trigger('keydown', { key: '1' })
    expect(panel.emitted('decide')).toBeUndefined()
    expect(panel.get('[role=alert]').text()).toBe('decided in another window')
  })
})

test('the list of things to do shows the active one, and all when opened', async () => {
  const active = { id: '2', text: 'second', status: 'in_progress', unverified: false }
  panel = show(PanelTodo, {
    todo: {
      done: 1,
      total: 2,
      hidden: 4,
      active,
      items: [{ id: '1', text: 'first', status: 'done', unverified: true }, active],
    },
  })
  expect(panel.get('.head').text()).toBe('second1/2')
  await panel.get('.head').trigger('click')
  expect(panel.findAll('li').map((item) => item.text())).toEqual([
    'Donefirstno activity',
    'In progresssecond',
    '4 more items',
  ])
})

test('the list of things to do folds with the end of its run, and can be closed then', async () => {
  const active = { id: '1', text: 'first', status: 'in_progress', unverified: false }
  panel = show(PanelTodo, { todo: { done: 0, total: 1, hidden: 0, active, items: [active] }, ended: false })
  await panel.get('.head').trigger('click')
  expect(panel.find('[aria-label="Close to-do list"]').exists()).toBe(false)
  await panel.setProps({ ended: true })
  expect(panel.get('.head').attributes('aria-expanded')).toBe('false')
  expect(panel.get('.head').text()).toBe('To-do list0/1')
  await panel.get('[aria-label="Close to-do list"]').trigger('click')
  expect(panel.emitted('close')).toHaveLength(1)
})
