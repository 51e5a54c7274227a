/** The steps of a call as a timeline. */

import { STEPS_FIRST, STEPS_LAST, type RuntimeProcessEvent } from '@/protocol'
import { processOf, type ProcessState, type SessionState, type Step } from '@/session'
import { millisOf } from './content'
import type { ProcessLog, ProcessView, StepGap, StepLevel, StepView } from './types'

const views = new WeakMap<ProcessState, ProcessView>()
const stored = new WeakMap<object, ProcessView | null>()

/** Of the same steps the same object. */
export function processView(process: ProcessState): ProcessView {
  const known = views.get(process)
  if (known) return known
  const { latest, count, dropped, log } = process
  const view: ProcessView = {
    latest: stepOf(latest, latest.sequence, 1),
    rows: rowsOf(process),
    count,
    dropped,
    log: log && { sessionId: log.sessionId, operationId: log.operationId },
  }
  views.set(process, view)
  return view
}

/** The steps that the details of a result tell of. */
export function processIn(details: unknown): ProcessView | null {
  if (typeof details !== 'object' || details === null) return null
  if (!stored.has(details)) {
    const process = processOf(details)
    stored.set(details, process && processView(process))
  }
  return stored.get(details) ?? null
}

/** How many steps the call of a log has taken so far; null if it is over, or not of this session. */
export function stepsTaken(state: SessionState | null, { sessionId, operationId }: ProcessLog): number | null {
  if (state?.sessionId !== sessionId) return null
  const tool = [...state.tools.values()].find(({ process }) => process?.log?.operationId === operationId)
  return tool?.process && tool.result === null ? tool.process.count : null
}

/** One event for itself, as a full log shows it. */
export function stepOf(event: RuntimeProcessEvent, from: number, count: number): StepView {
  return {
    kind: 'step',
    key: `s${from}`,
    stage: event.stage || null,
    state: stateOf(event),
    level: event.level in SEVERITY ? event.level : 'info',
    message: event.message,
    ...(event.words ? { words: event.words } : {}),
    detail: event.detail || null,
    current: event.current ?? null,
    total: event.total ?? null,
    percent: typeof event.percent === 'number' ? Math.min(100, Math.max(0, event.percent)) : null,
    count,
    at: event.timestamp ? millisOf(event.timestamp) : null,
    durationMs: null,
  }
}

const SEVERITY: Record<StepLevel, number> = { debug: 0, info: 1, warning: 2, error: 3 }

/** Waiting, starting and running look the same. */
function stateOf({ status }: RuntimeProcessEvent): StepView['state'] {
  return status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'skipped'
    ? status
    : 'going'
}

function rowsOf(process: ProcessState): (StepView | StepGap)[] {
  const rows: (StepView | StepGap)[] = []
  let known = 0
  let lastAt: number | null = null
  for (const { from, event } of process.steps.flatMap((step) => within(step, process.count))) {
    if (from > known + 1) rows.push({ kind: 'gap', key: `g${known}`, count: from - known - 1 })
    const step = stepOf(event, from, event.sequence - from + 1)
    const before = rows.at(-1)
    if (before?.kind === 'step' && isRepeated(before, step)) rows[rows.length - 1] = repeated(before, step)
    else rows.push(step)
    known = event.sequence
    lastAt = step.at
  }
  return timed(rows, lastAt)
}

/** The parts of a step that are kept when there are many: who has heard of all sees what the server stores. */
function within(step: Step, count: number): Step[] {
  const { from, event } = step
  const tail = count - STEPS_LAST
  if (tail <= STEPS_FIRST) return [step]
  const head = from <= STEPS_FIRST ? [{ from, event: upTo(event, STEPS_FIRST) }] : []
  return event.sequence > tail ? [...head, { from: Math.max(from, tail + 1), event }] : head
}

function upTo(event: RuntimeProcessEvent, sequence: number): RuntimeProcessEvent {
  return event.sequence <= sequence ? event : { ...event, sequence }
}

function isRepeated(before: StepView, step: StepView): boolean {
  return before.stage === step.stage && before.state === step.state && before.message === step.message
}

/** The last one tells how far it is, the first one when it began; the worst level counts. */
function repeated(before: StepView, step: StepView): StepView {
  const level = SEVERITY[before.level] > SEVERITY[step.level] ? before.level : step.level
  return {
    ...step,
    key: before.key,
    level,
    detail: step.detail ?? before.detail,
    count: before.count + step.count,
    at: before.at,
  }
}

function timed(rows: readonly (StepView | StepGap)[], lastAt: number | null): (StepView | StepGap)[] {
  return rows.map((row, at) => {
    if (row.kind === 'gap' || row.at === null) return row
    const next = rows[at + 1]
    const end = next === undefined ? lastAt : next.kind === 'step' ? next.at : null
    const ms = end === null ? 0 : end - row.at
    return ms > 0 ? { ...row, durationMs: ms } : row
  })
}
