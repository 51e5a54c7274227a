// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { VueWrapper } from '@vue/test-utils'
import { process } from '@/gallery/processes'
import type { ToolExecution } from '@/protocol'
import { toolOfCall } from '@/view/tool'
import type { ToolView } from '@/view/types'
import { show } from '../testing'
import ToolCard from './ToolCard.vue'

let card: VueWrapper
afterEach(() => card.unmount())

const tool = (changes: Partial<ToolView>): ToolView => ({
  id: 't',
  name: 'bash',
  label: 'Bash',
  status: 'done',
  args: { command: 'ls' },
  argsText: '',
  headline: 'ls',
  output: '',
  process: null,
  result: { text: 'a\nb', images: [] },
  details: null,
  diff: null,
  answers: null,
  startedAt: 0,
  durationMs: 1200,
  route: 'main',
  blockedReason: null,
  policySources: ['agent'],
  allowedBy: [],
  ...changes,
})
const draw = (changes: Partial<ToolView>) => (card = show(ToolCard, { tool: tool(changes) }))

const text = (selector: string) => card.findAll(selector).map((found) => found.text())

describe('a tool card', () => {
  test.each([
    ['bash', 'bash', 'Run command'],
    ['bash', 'Run a command', 'Run command'],
    ['bash', '', 'Run command'],
    ['mcp__tracker__find', 'Find issues', 'find · tracker'],
    ['mcp__tracker__find', 'mcp__tracker__find', 'find · tracker'],
    ['mcp__a_b__get__all', '', 'get__all · a_b'],
    ['lookup', 'Look up', 'Look up'],
    ['lookup', '', 'lookup'],
  ])('%s, told as "%s", is called %s', (name, label, shown) => {
    draw({ name, label })
    expect(card.get('.name').text()).toBe(shown)
  })

  test('is one line until it is opened', async () => {
    draw({})
    expect(card.get('.head').text()).toBe('Run commandls1 sDone')
    expect(card.find('pre').exists()).toBe(false)
    await card.get('.head').trigger('click')
    expect(text('pre')).toEqual(['{\n  "command": "ls"\n}', 'a\nb'])
    expect(text('dd')).toEqual(['the server', 'agent'])
  })

  test.each(['completed', 'interrupted'] as const)(
    'still shows where a call ran and why when it is %s',
    async (status) => {
      const call = { type: 'toolCall', id: 'c', name: 'bash', arguments: { command: 'ls' } } as const
      const execution: ToolExecution = {
        toolCallId: 'c',
        name: 'bash',
        label: 'Run command',
        status,
        runtimeRoute: 'main',
        policySources: ['catalogue:on_by_default', 'agent:enabled'],
        processEventCount: 0,
      }
      const context = { running: false, connected: true, waitsFor: null, address: () => '' }
      card = show(ToolCard, { tool: toolOfCall(call, null, null, execution, context) })
      await card.get('.head').trigger('click')
      expect(text('dd')).toEqual(['the server', 'on by default, on for the agent'])
    },
  )

  test('shows what went wrong without being opened', async () => {
    draw({ status: 'error', result: { text: 'No such file', images: [] } })
    expect(text('.problem')).toEqual(['No such file'])
    await card.setProps({
      tool: tool({
        status: 'blocked',
        result: null,
        blockedReason: 'the agent’s settings disable it',
        policySources: ['catalogue:on_by_default', 'agent:off'],
      }),
    })
    expect(card.text()).toContain('Not run: ')
    expect(card.text()).not.toContain('settings disable it')
    const blocked = { status: 'blocked', result: null, blockedReason: 'denied by the agent' } as const
    await card.setProps({ tool: tool({ ...blocked, policySources: ['catalogue:on_by_default'] }) })
    expect(text('.problem')).toEqual(['denied by the agent'])
    // What the model reads instead lists its tools.
    await card.setProps({ tool: tool({ ...blocked, name: 'nonsense', policySources: [] }) })
    expect(text('.problem')).toEqual(['Not run: there is no tool “nonsense”.'])
  })

  test('shows live output, and closes it at the end', async () => {
    draw({ status: 'running', result: null, durationMs: null, output: 'line 1' })
    expect(text('pre')).toEqual(['line 1'])
    await card.setProps({ tool: tool({ status: 'running', result: null, output: 'line 1\nline 2' }) })
    expect(text('pre')).toEqual(['line 1\nline 2'])
    await card.setProps({ tool: tool({}) })
    expect(card.find('pre').exists()).toBe(false)
  })

  test('draws a bar only where a percent is known', async () => {
    draw({ status: 'running', result: null, process: process([0, { message: 'batch 3', current: 3, total: 9 }]) })
    expect(card.find('[role=progressbar]').exists()).toBe(false)
    expect(card.text()).toContain('3/9')
    await card.setProps({
      tool: tool({ status: 'running', result: null, process: process([0, { message: 'batch 3', percent: 133 }]) }),
    })
    expect(card.get('[role=progressbar]').attributes('aria-valuenow')).toBe('100')
  })

  test('shows its steps when it is opened, equal ones once, and asks for the rest', async () => {
    draw({
      name: 'execute_skill',
      status: 'error',
      process: process(
        [0, { stage: 'scan', message: 'looking' }],
        [10, { stage: 'scan', message: 'looking', payload: { repeatCount: 4 } }],
        [2000, { stage: 'scan', level: 'warning', message: '<b>odd</b>', detail: 'a.txt' }],
        [1000, { stage: 'hash', status: 'failed', level: 'error', message: 'No more', sequence: 90 }],
      ),
    })
    expect(card.find('.tool-process-timeline').exists()).toBe(false)
    await card.get('.head').trigger('click')
    const lines = text('.tool-process-timeline li').map((line) => line.replace(/ ?\d\d:\d\d:\d\d$/, ''))
    expect(lines).toEqual(['scanInfolooking ×52 s', 'Warning<b>odd</b> a.txt', '83 steps hidden', 'hashFailedNo more'])
    await card.get('.tool-process-timeline header button').trigger('click')
    expect(card.emitted('openLog')).toEqual([[{ sessionId: 's', operationId: 'tool-t1' }]])
  })

  test('an ended call shows no bar', () => {
    draw({ process: process([0, { message: 'all', percent: 100, status: 'completed' }]) })
    expect(card.find('[role=progressbar]').exists()).toBe(false)
  })

  test('shows a step that the server describes in the language of the page', async () => {
    const words = { zh: '超时，已结束。', en: 'Timed out.' }
    draw({ process: process([0, { message: 'It timed out and was ended.', words, status: 'failed' }]) })
    expect(text('.progress .words')).toEqual(['Timed out.'])
    await card.get('.head').trigger('click')
    expect(text('.tool-process-timeline li').join()).toContain('Timed out.')
  })

  test('keeps the last step and its detail after the end', () => {
    draw({ process: process([0, { message: 'hashing' }], [5, { message: '3 files', detail: 'the last was a.txt' }]) })
    expect(text('.progress .words')).toEqual(['3 files'])
    expect(text('.progress .detail')).toEqual(['the last was a.txt'])
  })

  test.each([
    ['waitingApproval', 'Waiting for approval'],
    ['waitingAnswer', 'Waiting for your answer'],
    ['unknown', 'Status unknown'],
  ] as const)('that is %s says what it waits for, and neither turns nor counts', (status, words) => {
    draw({ status, result: null, durationMs: null })
    expect(card.get('.status').text()).toBe(words)
    expect(card.find('.nc-visually-hidden').exists()).toBe(false)
    expect(card.find('.nc-spin').exists()).toBe(false)
    expect(card.get('.time').text()).toBe('')
  })

  test('shows what a search found below the files it is in', async () => {
    draw({ name: 'grep', result: { text: 'a.rs\n2:let x\n3-}\n', images: [] } })
    await card.get('.head').trigger('click')
    expect(text('.matches .path')).toEqual(['a.rs'])
    expect(text('.matches tr[data-match] .text')).toEqual(['let x'])
  })

  test('caps a long result until all of it is asked for', async () => {
    draw({ args: undefined, result: { text: 'x'.repeat(20_000), images: [] } })
    await card.get('.head').trigger('click')
    expect(card.get('pre').text()).toHaveLength(8000)
    await card.get('.output > button').trigger('click')
    expect(card.get('pre').text()).toHaveLength(20_000)
  })

  test('shows a change line by line', async () => {
    draw({
      name: 'edit',
      diff: {
        path: 'a.rs',
        added: 1,
        removed: 1,
        lines: [
          { kind: 'removed', oldNumber: 1, newNumber: null, text: 'old' },
          { kind: 'added', oldNumber: null, newNumber: 1, text: '<b>new</b>' },
        ],
      },
    })
    expect(card.get('.counts').text()).toBe('+1 −1')
    await card.get('.head').trigger('click')
    expect(text('tr')).toEqual(['1−old', '1+<b>new</b>'])
  })

  test('markup in names and results is text', async () => {
    draw({
      label: '<img src=x onerror=pwned()>',
      headline: '<svg onload=pwned()>',
      status: 'error',
      result: { text: '<script>pwned()</script>', images: [] },
    })
    await card.get('.head').trigger('click')
    expect(card.find('img, script, svg[onload]').exists()).toBe(false)
    expect(card.text()).toContain('<svg onload=pwned()>')
  })
})

describe('a tool that says nothing', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
  afterEach(() => void vi.useRealTimers())

  test('tells for how long, until it is heard of again', async () => {
    draw({ status: 'running', result: null, durationMs: null, startedAt: 1_000_000 })
    await vi.advanceTimersByTimeAsync(9000)
    expect(card.text()).not.toContain('Last activity')
    await vi.advanceTimersByTimeAsync(3000)
    expect(card.text()).toContain('Last activity 12 s ago')
    expect(card.get('.time').text()).toBe('12 s')
    await card.setProps({
      tool: tool({ status: 'running', result: null, durationMs: null, startedAt: 1_000_000, output: 'x' }),
    })
    await vi.advanceTimersByTimeAsync(1000)
    expect(card.text()).not.toContain('Last activity')
  })
})
