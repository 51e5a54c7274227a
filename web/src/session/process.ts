/** The steps of one call: its first and last ones, however many there are. */

import { STEPS_FIRST, STEPS_LAST, type ProcessLogRef, type RuntimeProcessEvent } from '@/protocol'

export interface ProcessState {
  readonly latest: RuntimeProcessEvent
  readonly steps: readonly Step[]
  /** How many there were. */
  readonly count: number
  /** Those that were too many for the server to take in. */
  readonly dropped: number
  readonly log: ProcessLogRef | null
}

/** A step, which may stand for those before it that said the same: from this number to its own. */
export interface Step {
  readonly from: number
  readonly event: RuntimeProcessEvent
}

/** With a step more. One that is known, or older than what is known, changes nothing. */
export function withStep(process: ProcessState | null, event: RuntimeProcessEvent, log: ProcessLogRef): ProcessState {
  const known = process?.count ?? 0
  if (process && event.sequence <= known) return process
  const count = Math.max(process?.count ?? 0, event.sequence)
  const step = { from: Math.max(known + 1, event.sequence - repeats(event) + 1), event }
  return {
    latest: process && isMereSuccess(event) ? process.latest : event,
    steps: [...(process?.steps ?? []), step].filter((step) => isKept(step, count)),
    count,
    dropped: process?.dropped ?? 0,
    log: process?.log ?? log,
  }
}

/** The steps in a snapshot or in the details of a result; null without steps. The details may be those of any tool. */
export function processOf(told: unknown): ProcessState | null {
  if (typeof told !== 'object' || told === null) return null
  const { latestProcessEvent, processEvents, processEventCount, processEventsDropped, processLogRef } = told as Record<
    string,
    unknown
  >
  const events = Array.isArray(processEvents) ? processEvents.filter(isEvent) : []
  const latest = isEvent(latestProcessEvent) ? latestProcessEvent : events.at(-1)
  if (!latest) return null
  return {
    latest,
    steps: events.map((event) => ({ from: event.sequence - repeats(event) + 1, event })),
    count: Math.max(latest.sequence, typeof processEventCount === 'number' ? processEventCount : 0),
    dropped: typeof processEventsDropped === 'number' ? processEventsDropped : 0,
    log: isLog(processLogRef) ? processLogRef : null,
  }
}

/** The server's own note that all went well; the latest step stays the last one about the work. */
function isMereSuccess({ source, status }: RuntimeProcessEvent): boolean {
  return source === 'runtime' && status === 'completed'
}

function isKept({ from, event }: Step, count: number): boolean {
  return from <= STEPS_FIRST || event.sequence > count - STEPS_LAST
}

/** How many equal steps were sent as this one. */
function repeats(event: RuntimeProcessEvent): number {
  const told = event.payload?.['repeatCount']
  return typeof told === 'number' && told >= 1 ? Math.floor(told) : 1
}

function isEvent(value: unknown): value is RuntimeProcessEvent {
  if (typeof value !== 'object' || value === null) return false
  const { sequence, message } = value as Record<string, unknown>
  return typeof sequence === 'number' && typeof message === 'string'
}

function isLog(value: unknown): value is ProcessLogRef {
  if (typeof value !== 'object' || value === null) return false
  const { sessionId, operationId } = value as Record<string, unknown>
  return typeof sessionId === 'string' && typeof operationId === 'string'
}
