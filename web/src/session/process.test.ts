import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Opened, RuntimeProcessEvent, ServerEvent } from '@/protocol'
import { fromSnapshot, processOf, reduce, type ProcessState, type SessionState } from '.'
import { withStep } from './process'
import { RECORDINGS } from './recordings'

const LOG = { kind: 'runtime_process_log', sessionId: 's', operationId: 'tool-a' } as const

const event = (sequence: number, changes: Partial<RuntimeProcessEvent> = {}): RuntimeProcessEvent => ({
  version: 1,
  operationId: 'tool-a',
  targetType: 'skill',
  source: 'skill',
  status: 'running',
  level: 'info',
  message: 'working',
  timestamp: '2026-11-16T09:00:00.000Z',
  sequence,
  ...changes,
})

const heard = (events: readonly RuntimeProcessEvent[], from: ProcessState | null = null) =>
  events.reduce<ProcessState | null>((process, event) => withStep(process, event, LOG), from)

/** What the server keeps of them. */
const kept = (events: readonly RuntimeProcessEvent[]) =>
  events.length <= 50 ? [...events] : [...events.slice(0, 10), ...events.slice(-40)]

const told = (events: readonly RuntimeProcessEvent[]) =>
  processOf({
    latestProcessEvent: events.at(-1),
    processEvents: kept(events),
    processEventCount: events.length,
    processLogRef: LOG,
  })

describe('the steps of a call', () => {
  test('a client that receives all of them has what the server stores', () => {
    for (const count of [1, 9, 10, 11, 49, 50, 51, 52, 200, 5000]) {
      const events = Array.from({ length: count }, (_, at) => event(at + 1))
      expect(heard(events)).toEqual(told(events))
    }
  })

  test('however they come, once each and in order', () => {
    const all = Array.from({ length: 120 }, (_, at) => event(at + 1))
    fc.assert(
      fc.property(fc.array(fc.nat(119), { maxLength: 300 }), (order) => {
        const process = heard(order.map((at) => all[at]!))
        const numbers = process?.steps.map((step) => step.event.sequence) ?? []
        expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
        expect(process?.latest.sequence ?? 0).toBe(Math.max(0, ...order.map((at) => at + 1)))
        expect(numbers.length).toBeLessThanOrEqual(50)
      }),
    )
  })

  test('that all went well is not the latest one, which is about the work', () => {
    const end = event(2, { source: 'runtime', status: 'completed', message: 'Done.' })
    expect(heard([event(1), end])).toMatchObject({ latest: { sequence: 1 }, count: 2 })
    expect(heard([event(1), end, end])?.steps).toHaveLength(2)
    const failed = event(2, { source: 'runtime', status: 'failed', message: 'It was killed.' })
    expect(heard([event(1), failed])).toMatchObject({ latest: { sequence: 2 } })
  })

  test('one that is known changes nothing', () => {
    const process = heard([event(1), event(2), event(5)])!
    for (const sequence of [1, 3, 5]) expect(withStep(process, event(sequence), LOG)).toBe(process)
  })

  test('one may stand for several, but for none that was heard of', () => {
    const several = heard([
      event(1),
      event(8, { payload: { repeatCount: 7 } }),
      event(12, { payload: { repeatCount: 9 } }),
    ])
    expect(several?.steps.map((step) => [step.from, step.event.sequence])).toEqual([
      [1, 1],
      [2, 8],
      [9, 12],
    ])
    expect(several?.count).toBe(12)
  })

  test('a flood does not grow', () => {
    let process = heard([event(1)])
    for (let sequence = 2; sequence <= 100_000; sequence++) process = withStep(process, event(sequence), LOG)
    expect(process).toMatchObject({ count: 100_000, latest: { sequence: 100_000 } })
    expect(process?.steps).toHaveLength(50)
  })

  test.each([
    [null],
    [undefined],
    ['text'],
    [{}],
    [{ processEvents: 'no' }],
    [{ processEvents: [null, 7, {}] }],
    [{ latestProcessEvent: {} }],
  ])('details that tell nothing are nothing: %j', (details) => expect(processOf(details)).toBeNull())
})

describe('in a session', () => {
  const [, recording] = RECORDINGS.find(([name]) => name === 'tools')!
  const stamp = { sessionId: recording.events[0]!.sessionId, epoch: recording.events[0]!.epoch, ts: 7 }
  const startedAt = recording.events.findIndex((event) => event.type === 'tool_call_started')
  const started = recording.events[startedAt] as Extract<ServerEvent, { type: 'tool_call_started' }>
  const { runId, toolCallId, toolName } = started.data
  const step = (sequence: number, changes: Partial<RuntimeProcessEvent> = {}, id = toolCallId): ServerEvent => ({
    ...stamp,
    type: 'tool_process_event',
    data: { ...event(sequence, changes), runId, toolCallId: id, toolName },
  })
  const play = (state: SessionState, events: readonly ServerEvent[]) => events.reduce(reduce, state)
  const running = play(fromSnapshot(recording.opened, null, 0), recording.events.slice(0, startedAt + 1))

  test('steps belong to their call alone, and say where all can be read', () => {
    const other = recording.events.find(
      (event) => event.type === 'tool_call_started' && event !== started,
    ) as typeof started
    const state = play(running, [other, step(1), step(1, { message: 'else' }, other.data.toolCallId), step(2)])
    expect(state.tools.get(toolCallId)?.process).toMatchObject({
      count: 2,
      latest: { message: 'working' },
      log: { sessionId: stamp.sessionId, operationId: 'tool-a' },
    })
    expect(state.tools.get(other.data.toolCallId)?.process).toMatchObject({ count: 1, latest: { message: 'else' } })
    expect(state.wants).toBeNull()
  })

  test('duplicate, late and unrelated steps change nothing', () => {
    const state = play(running, [step(1), step(4)])
    for (const event of [step(1), step(4), step(2), step(9, {}, 'unheard')]) expect(reduce(state, event)).toBe(state)
  })

  test('a missing step asks for nothing: the result tells all', () => {
    expect(play(running, [step(3), step(9)])).toMatchObject({ wants: null, seq: running.seq })
  })

  test('who joins in the midst goes on from the snapshot', () => {
    const events = Array.from({ length: 80 }, (_, at) => event(at + 1))
    const tool = {
      ...started.data,
      output: '',
      startedAt: 5,
      processEvents: kept(events.slice(0, 60)),
      latestProcessEvent: events[59]!,
      processEventCount: 60,
      processLogRef: LOG,
    }
    const opened: Opened = {
      ...recording.opened,
      seq: running.seq,
      snapshot: { ...recording.opened.snapshot!, tools: [tool] },
    }
    const joined = play(
      fromSnapshot(opened, null, 0),
      events.slice(55).map((event) => step(event.sequence)),
    )
    expect(joined.tools.get(toolCallId)?.process).toEqual(told(events))
  })

  test('after its end a call takes no further step', () => {
    const done = recording.events.find(
      (event) => event.type === 'tool_call_completed' && event.data.toolCallId === toolCallId,
    )!
    const ended = play(running, [step(1), { ...done, seq: running.seq + 1 }])
    expect(ended.tools.get(toolCallId)?.result).not.toBeNull()
    expect(reduce(ended, step(2))).toBe(ended)
  })

  test('the start and the end of skills come with their calls', () => {
    const about = { runId, toolCallId, operationId: 'tool-a', skillName: 'x' }
    expect(reduce(running, { ...stamp, type: 'skill_start', data: about })).toBe(running)
    expect(
      reduce(running, { ...stamp, type: 'skill_end', data: { ...about, status: 'completed', durationMs: 1 } }),
    ).toBe(running)
  })
})
