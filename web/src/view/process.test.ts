import { describe, expect, test } from 'vitest'
import type { RuntimeProcessEvent } from '@/protocol'
import { fromSnapshot, processOf, reduce } from '@/session'
import { withStep } from '@/session/process'
import { RECORDINGS } from '@/session/recordings'
import { processIn, processView } from './process'
import type { ProcessView } from './types'

const LOG = { kind: 'runtime_process_log', sessionId: 's', operationId: 'tool-a' } as const
const BEGUN = Date.UTC(2026, 10, 16, 9)

type Change = Partial<RuntimeProcessEvent>

/** Steps a second apart. */
const events = (...changes: readonly Change[]): RuntimeProcessEvent[] =>
  changes.map((change, at) => ({
    version: 1,
    operationId: 'tool-a',
    targetType: 'skill',
    source: 'skill',
    status: 'running',
    level: 'info',
    message: 'working',
    timestamp: new Date(BEGUN + at * 1000).toISOString(),
    sequence: at + 1,
    ...change,
  }))

const stored = (steps: readonly RuntimeProcessEvent[]): ProcessView =>
  processView(
    processOf({
      processEvents: steps.length <= 50 ? steps : [...steps.slice(0, 10), ...steps.slice(-40)],
      processEventCount: steps.length,
      processLogRef: LOG,
    })!,
  )

const live = (steps: readonly RuntimeProcessEvent[]): ProcessView =>
  processView(steps.reduce((process, step) => withStep(process, step, LOG), null as ReturnType<typeof processOf>)!)

/** As the server sends them: equal ones of the same moments as one, the last of them. */
function merged(steps: readonly RuntimeProcessEvent[], most: number): RuntimeProcessEvent[] {
  const sent: RuntimeProcessEvent[] = []
  for (const step of steps) {
    const before = sent.at(-1)
    const count = (before?.payload?.['repeatCount'] as number | undefined) ?? 1
    const isSame = before?.stage === step.stage && before?.message === step.message && before?.status === step.status
    if (isSame && count < most) sent[sent.length - 1] = { ...step, payload: { repeatCount: count + 1 } }
    else sent.push(step)
  }
  return sent
}

/** A line for each row. */
const read = ({ rows }: ProcessView) =>
  rows.map((row) =>
    row.kind === 'gap'
      ? `… ${row.count}`
      : `${row.stage ?? '-'} ${row.state} ${row.level} ${row.message} ×${row.count} ${row.durationMs ?? ''}`.trimEnd(),
  )

describe('a timeline', () => {
  test('equal steps in a row are one, whether they begin or go on', () => {
    const view = stored(
      events(
        { stage: 'scan', status: 'queued' },
        { stage: 'scan', status: 'started' },
        { stage: 'scan', current: 3, total: 9, percent: 33 },
        { stage: 'hash' },
        { stage: 'scan' },
        { stage: 'scan', status: 'completed' },
      ),
    )
    expect(read(view)).toEqual([
      'scan going info working ×3 3000',
      'hash going info working ×1 1000',
      'scan going info working ×1 1000',
      'scan completed info working ×1',
    ])
    expect(view.rows[0]).toMatchObject({ current: 3, total: 9, percent: 33, at: BEGUN })
  })

  test('the worst level counts', () => {
    expect(read(stored(events({ level: 'info' }, { level: 'warning' }, { level: 'debug' })))).toEqual([
      '- going warning working ×3 2000',
    ])
  })

  test('what is not kept is counted, and takes no time', () => {
    const steps = events(...Array.from({ length: 100 }, (_, at): Change => ({ message: at < 50 ? 'first' : 'second' })))
    expect(read(stored(steps))).toEqual(['- going info first ×10', '… 50', '- going info second ×40 39000'])
  })

  test('what was missed at the beginning is counted', () => {
    expect(read(live(events({}, {}, {}).slice(2)))).toEqual(['… 2', '- going info working ×1'])
  })

  test.each([1, 3, 7, 25, 1000])('is the same live, with up to %i steps sent as one, and after a reload', (most) => {
    const stages = ['scan', 'hash', 'compare', 'report']
    for (const count of [1, 12, 50, 51, 60, 130, 700]) {
      const steps = events(
        ...Array.from({ length: count }, (_, at): Change => ({
          stage: stages[Math.floor((at * 4) / count)]!,
          message: at % 30 < 20 ? 'a' : 'b',
        })),
      )
      const counts = (view: ProcessView) =>
        view.rows.map((row) => (row.kind === 'gap' ? ['gap', row.count] : [row.stage, row.message, row.count]))
      expect(counts(live(merged(steps, most)))).toEqual(counts(stored(steps)))
    }
  })

  test('of a real skill reads the same just before its end, when it has ended, and after a reload', () => {
    const [, recording] = RECORDINGS.find(([name]) => name === 'skill')!
    const told = recording.events.find((event) => event.type === 'tool_call_completed')!
    const before = recording.events
      .slice(0, recording.events.indexOf(told))
      .reduce(reduce, fromSnapshot(recording.opened, null, 0))
    const heard = processView([...before.tools.values()][0]!.process!)
    const entry = recording.closed.snapshot!.entries.find(
      (entry) => entry.type === 'message' && entry.message.role === 'toolResult',
    )
    const kept =
      entry?.type === 'message' && entry.message.role === 'toolResult' ? processIn(entry.message.details) : null
    expect(read(heard).length).toBeGreaterThan(5)
    expect(read(heard)).toEqual(read(processIn(told.data.details)!))
    expect(read(heard)).toEqual(read(kept!))
    expect(heard.log).toEqual(kept?.log)
    expect(heard.count).toBe(kept?.count)
  })

  test('keys are unique', () => {
    const steps = events(...Array.from({ length: 300 }, (_, at): Change => ({ message: String(at % 7) })))
    const keys = stored(steps).rows.map((row) => row.key)
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('a percent is within bounds or absent', () => {
    expect(stored(events({ percent: 140 })).latest.percent).toBe(100)
    expect(stored(events({ current: 1, total: 0 })).latest.percent).toBeNull()
  })

  test('of the same details it is the same object', () => {
    const details = { durationMs: 3, processEvents: events({}) }
    expect(processIn(details)).toBe(processIn(details))
    expect(processIn({ durationMs: 3 })).toBeNull()
    expect(processIn(null)).toBeNull()
  })
})
