import { describe, expect, test } from 'vitest'
import type { Entry, ServerEvent, ToolExecutionStatus } from '@/protocol'
import { fromSnapshot, reduce, wholeText, type SessionState } from '@/session'
import { RECORDINGS } from '@/session/recordings'
import { treeShape } from '@/session/tree'
import chat from '@/i18n/en/chat'
import ui from '@/i18n/en/ui'
import { runView } from './sessionPanels'
import { callStands, needsWord, runStands } from './stands'
import { transcript } from './transcript'
import type { RunView, ToolStatus } from './types'

const { closed } = RECORDINGS.find(([name]) => name === 'plain')![1]
const base = fromSnapshot(closed, null, 0)
const START = Date.parse('2026-01-01T00:00:00.000Z')
const usage = {
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 2,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
}

type Told = [type: string, data: unknown]
const tell = (state: SessionState, told: readonly Told[]): SessionState =>
  told.reduce((state, [type, data]) => {
    const reliable = type !== 'assistant_stream_delta'
    return reduce(state, {
      type,
      data,
      sessionId: base.sessionId,
      epoch: base.epoch,
      ...(reliable ? { seq: state.seq + 1 } : {}),
      ts: START,
    } as ServerEvent)
  }, state)

const entry = (id: string, parentId: string | null, message: object, executions?: object[]): Told => [
  'session_entry_added',
  {
    entry: {
      id,
      parentId,
      timestamp: '2026-01-01T00:00:00.000Z',
      type: 'message',
      message,
      ...(executions ? { metadata: { toolExecutions: executions } } : {}),
    } as unknown as Entry,
    leafEntryId: id,
  },
]
const answer = (content: object[], stopReason: string, trouble?: object) => ({
  role: 'assistant',
  api: '',
  provider: 'p',
  model: 'm',
  usage,
  stopReason,
  timestamp: 0,
  content,
  ...(trouble ? { trouble, errorMessage: 'x' } : {}),
})
const interrupted = { kind: 'interrupted', words: { en: 'x', zh: 'x' } }

const execution = (name: string, status: ToolExecutionStatus) => ({
  toolCallId: 'c',
  name,
  label: name,
  status,
  policySources: [],
  processEventCount: 0,
})
const calling = (name: string, status: ToolExecutionStatus) =>
  entry('a1', 'u1', answer([{ type: 'toolCall', id: 'c', name, arguments: {} }], 'toolUse'), [execution(name, status)])
const settled = (name: string, status: ToolExecutionStatus, isError: boolean): Told[] => [
  entry('r1', 'a1', { role: 'toolResult', toolCallId: 'c', toolName: name, content: [], isError, timestamp: 0 }),
  ['session_entry_updated', calling(name, status)[1]],
]
const phase = (phase: string, more: object = {}): Told => [
  'run_status',
  { status: 'running', runId: 'r', phase, since: START, startedAt: START, waitedMs: 0, ...more },
]
const started = (name: string): Told => [
  'tool_call_started',
  {
    runId: 'r',
    entryId: 'a1',
    toolCallId: 'c',
    toolName: name,
    toolLabel: name,
    args: {},
    route: 'main',
    runtimeRoute: 'main',
    policySources: [],
  },
]
const streaming = (id: string, parentId: string): Told[] => [
  ['assistant_stream_start', { runId: 'r', entryId: id, parentId, provider: 'p', model: 'm' }],
  phase('streaming'),
  ['assistant_stream_delta', { runId: 'r', entryId: id, part: 0, kind: 'text', offset: 0, text: 'Once' }],
]
const approval = { approvalId: 'q', runId: 'r', toolCallId: 'c', toolName: 'bash', args: {}, askedAt: START }
const question = {
  requestId: 'q',
  runId: 'r',
  toolCallId: 'c',
  question: '?',
  options: [],
  multi: false,
  readOnly: false,
}

const user = entry('u1', null, { role: 'user', content: 'Do it', timestamp: 0 })
const asked = [user, phase('preparing')]
const called = (name: string) => [...asked, calling(name, 'pending'), phase('running_tools'), started(name)]
const worked = [...called('ls'), ...settled('ls', 'completed', false), phase('waiting_for_model')]

/** The phases of a run with tools. */
const PHASES = {
  preparing: asked,
  'waiting for the model': [...asked, phase('waiting_for_model')],
  'in the first answer': [...asked, ...streaming('a1', 'u1')],
  'waiting for approval': [...called('bash'), ['approval_request', approval] as Told, phase('waiting_for_user')],
  'waiting for an answer': [...called('clarify'), ['clarify_request', question] as Told, phase('waiting_for_user')],
  'in a tool': called('bash'),
  'between two answers': worked,
  'in the last answer': [...worked, ...streaming('a2', 'r1')],
  'retrying the first request': [
    ...asked,
    phase('retrying', { retry: { trouble: { kind: 'rate_limited', words: { en: 'x', zh: 'x' } }, at: START + 4_000 } }),
  ],
  'compacting between two answers': [
    ...worked,
    phase('compacting'),
    ['compaction_start', { reason: 'threshold', messageCount: 3 }] as Told,
  ],
}
type Phase = keyof typeof PHASES

const empty: SessionState = { ...base, path: [], tree: treeShape({}) }
const at = (phase: Phase) => tell(empty, PHASES[phase])

/** What a run leaves when it is over: `how` it ended, with these entries as its last. */
const over = (state: SessionState, last: readonly Told[]): SessionState =>
  tell(state, [
    ...last,
    ['done', { runId: 'r', outcome: 'stopped' }],
    ['run_status', { status: 'idle', since: START, waitedMs: 0 }],
  ])

/** The next process: nothing of the run is left but its entries. */
const restarted = (state: SessionState, last: readonly Told[]): SessionState => {
  const { run, ...stored } = over(state, last)
  return { ...stored, run, tools: new Map(), streaming: null, errors: [], done: null }
}

/** What a page shows that is opened now: the server tells it what is under way. */
function reloaded(state: SessionState): SessionState {
  const { streaming, compaction } = state
  const snapshot = {
    ...closed.snapshot!,
    entries: state.path.map((id) => state.entries.get(id)!),
    activePath: [...state.path],
    childrenByParentId: {},
    run: state.run,
    streaming: streaming && {
      ...streaming,
      parts: streaming.parts.map((part) => ({ ...part, text: wholeText(part.text), startedAt: START })),
    },
    tools: [...state.tools.values()]
      .filter((tool) => tool.result === null)
      .map(({ name, label, ...tool }) => ({
        ...tool,
        toolName: name,
        toolLabel: label,
        output: wholeText(tool.output),
        processEventCount: 0,
      })),
    questions: state.questions,
    approvals: state.approvals,
    compaction:
      compaction?.state === 'running' ? { ...compaction.start, progress: compaction.progress, since: 0 } : null,
  }
  return fromSnapshot({ ...closed, seq: state.seq, snapshot } as unknown as typeof closed, null, START)
}

/** What the page says, in the order in which it is read. */
function words(state: SessionState, connected = true): string[] {
  const rows = transcript(state, {
    verbosity: 'summary',
    pending: [],
    showsFolded: false,
    loadingOlder: false,
    address: () => '',
    language: 'en',
    connected,
  })
  const said = rows.flatMap((row) => {
    if (row.kind !== 'assistant' && row.kind !== 'activity') return []
    const tools = row.parts.flatMap((part) => (part.kind === 'tool' ? [ui.tool.status[part.tool.status]] : []))
    const used = row.kind === 'activity' && !row.live ? ['Used'] : []
    const end = row.kind === 'assistant' ? row : row.answer
    const note =
      end?.cutBy === 'user' ? [ui.assistant.stopped] : end?.cutBy === 'server' ? [ui.assistant.interrupted] : []
    return [...used, ...tools, ...note]
  })
  const run = runView(state, 'en')
  return run.state === 'idle' ? said : [...said, chat.run[runStands(run, connected, START).phase]]
}

const cut = (id: string, parentId: string, trouble?: object) => entry(id, parentId, answer([], 'aborted', trouble))
const STOPPED = ui.assistant.stopped
const INTERRUPTED = ui.assistant.interrupted
const OFFLINE = chat.run.disconnected

describe('a run with tools', () => {
  test.each<[Phase, string[]]>([
    ['preparing', ['Preparing']],
    ['waiting for the model', ['Waiting for the model']],
    ['in the first answer', ['Answering']],
    ['waiting for approval', ['Waiting for approval', 'Waiting for you']],
    ['waiting for an answer', ['Waiting for your answer', 'Waiting for you']],
    ['in a tool', ['Running', 'Running tools']],
    ['between two answers', ['Done', 'Waiting for the model']],
    ['in the last answer', ['Used', 'Done', 'Answering']],
    ['retrying the first request', ['Retrying']],
    ['compacting between two answers', ['Done', 'Compacting context']],
  ])('%s says what it does, also after a reload in the midst of it', (phase, expected) => {
    expect(words(at(phase))).toEqual(expected)
    expect(words(reloaded(at(phase)))).toEqual(expected)
  })

  test.each(Object.keys(PHASES) as Phase[])('%s, while it stops, says that it does', (phase) => {
    const stopping = tell(at(phase), [
      ['run_status', { status: 'stopping', runId: 'r', since: START, startedAt: START, waitedMs: 0 }],
    ])
    expect(words(stopping)).toEqual([...words(at(phase)).slice(0, -1), 'Stopping'])
    expect(words(reloaded(stopping))).toEqual(words(stopping))
  })

  test.each<[Phase, string[]]>([
    ['preparing', []],
    ['waiting for the model', []],
    ['in the first answer', []],
    ['waiting for approval', ['Waiting for approval']],
    ['waiting for an answer', ['Waiting for your answer']],
    ['in a tool', ['Status unknown']],
    ['between two answers', ['Done']],
    ['in the last answer', ['Used', 'Done']],
    ['retrying the first request', []],
    ['compacting between two answers', ['Done']],
  ])('%s, offline, claims nothing it does not know', (phase, expected) => {
    expect(words(at(phase), false)).toEqual([...expected, OFFLINE])
  })

  test.each<[Phase, Told[], string[]]>([
    ['preparing', [cut('x', 'u1')], [STOPPED]],
    ['waiting for the model', [cut('x', 'u1')], [STOPPED]],
    ['in the first answer', [cut('a1', 'u1')], [STOPPED]],
    [
      'waiting for approval',
      [...settled('bash', 'undecided', true), cut('x', 'r1')],
      ['Not run: no approval', STOPPED],
    ],
    ['waiting for an answer', [...settled('clarify', 'stopped', true), cut('x', 'r1')], ['Stopped', STOPPED]],
    ['in a tool', [...settled('bash', 'stopped', true), cut('x', 'r1')], ['Stopped', STOPPED]],
    ['between two answers', [cut('x', 'r1')], ['Used', 'Done', STOPPED]],
    ['in the last answer', [cut('a2', 'r1')], ['Used', 'Done', STOPPED]],
    ['retrying the first request', [cut('x', 'u1')], [STOPPED]],
    ['compacting between two answers', [cut('x', 'r1')], ['Used', 'Done', STOPPED]],
  ])('%s, stopped, says so, also after a reload', (phase, last, expected) => {
    expect(words(over(at(phase), last))).toEqual(expected)
    expect(words(restarted(at(phase), last))).toEqual(expected)
  })

  test.each<[Phase, Told[], string[]]>([
    ['preparing', [cut('x', 'u1', interrupted)], [INTERRUPTED]],
    ['waiting for the model', [cut('x', 'u1', interrupted)], [INTERRUPTED]],
    ['in the first answer', [cut('a1', 'u1', interrupted)], [INTERRUPTED]],
    // What waits for a person goes on waiting.
    ['waiting for approval', [], ['Waiting for approval']],
    ['waiting for an answer', [], ['Waiting for your answer']],
    ['in a tool', [...settled('bash', 'interrupted', true), cut('x', 'r1', interrupted)], ['Interrupted', INTERRUPTED]],
    ['between two answers', [cut('x', 'r1', interrupted)], ['Used', 'Done', INTERRUPTED]],
    ['in the last answer', [cut('a2', 'r1', interrupted)], ['Used', 'Done', INTERRUPTED]],
    ['retrying the first request', [cut('x', 'u1', interrupted)], [INTERRUPTED]],
    ['compacting between two answers', [cut('x', 'r1', interrupted)], ['Used', 'Done', INTERRUPTED]],
  ])('%s, killed, was not stopped by a user', (phase, last, expected) => {
    const open = at(phase)
    const after = restarted(open, last)
    // A snapshot of the next process tells again what is open.
    const kept = { ...after, approvals: open.approvals, questions: open.questions }
    expect(words(kept)).toEqual(expected)
  })

  test.each<[Phase, string, ToolExecutionStatus, string]>([
    ['waiting for approval', 'bash', 'denied', 'Denied'],
    ['waiting for an answer', 'clarify', 'expired', 'Expired'],
    ['waiting for an answer', 'clarify', 'dismissed', 'Closed, no answer'],
    ['in a tool', 'bash', 'timed_out', 'Timed out'],
    ['in a tool', 'bash', 'failed', 'Failed'],
    ['in a tool', 'bash', 'blocked', 'Blocked'],
  ])('%s: %s %s is “%s”, also after a reload', (phase, name, status, expected) => {
    const last = settled(name, status, status !== 'expired' && status !== 'dismissed')
    expect(words(tell(at(phase), last))[0]).toBe(expected)
    expect(words(restarted(at(phase), last))).toEqual([expected])
  })

  test('a call that ends is right before its entry comes', () => {
    const end: Told = [
      'tool_call_completed',
      {
        runId: 'r',
        toolCallId: 'c',
        toolName: 'bash',
        status: 'denied',
        isError: true,
        content: [],
        durationMs: 0,
        resultEntryId: 'r1',
      },
    ]
    expect(words(tell(at('waiting for approval'), [end]))[0]).toBe('Denied')
  })
})

describe('a call', () => {
  const open = { ended: null, failed: null, begun: true, waitsFor: null, running: true, connected: true }

  test('that no run can end has not just been cancelled', () => {
    expect(callStands({ ...open, running: false })).toBe('interrupted')
    expect(callStands({ ...open, begun: false })).toBe('pending')
  })

  test('that did not succeed has words', () => {
    const silent = (Object.keys(ui.tool.status) as ToolStatus[]).filter((status) => !needsWord(status))
    // Problems of the last two have a line of their own.
    expect(silent).toEqual(['pending', 'running', 'done', 'error', 'blocked'])
  })
})

describe('the clock of a run', () => {
  const run: RunView = {
    state: 'running',
    phase: 'running_tools',
    since: 50_000,
    startedAt: 10_000,
    waitedMs: 30_000,
    lastActivity: 55_000,
    retry: null,
  }

  test('leaves out the time of people and of rate limits', () => {
    expect(runStands(run, true, 60_000).workedMs).toBe(20_000)
    for (const phase of ['waiting_for_user', 'retrying'] as const) {
      expect(runStands({ ...run, phase }, true, 60_000)).toMatchObject({ workedMs: 10_000, quietMs: null })
    }
  })

  test('stands still while the connection is lost', () => {
    expect(runStands(run, false, 60_000)).toEqual({ phase: 'disconnected', workedMs: 15_000, quietMs: null })
    expect(runStands(run, false, 90_000).workedMs).toBe(15_000)
  })
})
