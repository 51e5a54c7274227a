/**
 * How things stand, in one place: what a call, an answer and a run are said to be doing, or to have come to. Pure; the
 * words are texts of `ui.tool.status`, `ui.assistant` and `chat.run`.
 */

import type { ToolExecutionStatus, LocalizedError } from '@/protocol'
import type { AssistantRow, RunView, ToolStatus } from './types'

/** What is known of a call. */
export interface CallFacts {
  /** How it ended, as the stored answer or the event about its end tells it. */
  ended: ToolExecutionStatus | null
  /** For a result that tells no more. */
  failed: boolean | null
  /** Its start was seen. */
  begun: boolean
  /** What is open of it. */
  waitsFor: 'approval' | 'answer' | null
  /** Whether the run of this call may still be under way. */
  running: boolean
  connected: boolean
}

const ENDED: Record<Exclude<ToolExecutionStatus, 'pending'>, ToolStatus> = {
  completed: 'done',
  failed: 'error',
  blocked: 'blocked',
  denied: 'denied',
  undecided: 'undecided',
  expired: 'expired',
  dismissed: 'dismissed',
  timed_out: 'timedOut',
  stopped: 'stopped',
  not_started: 'notStarted',
  interrupted: 'interrupted',
}

export function callStands({ ended, failed, begun, waitsFor, running, connected }: CallFacts): ToolStatus {
  if (ended !== null && ended !== 'pending') return ENDED[ended]
  if (failed !== null) return failed ? 'error' : 'done'
  // What waits for a person waits also when its run is gone, and can be decided on.
  if (waitsFor !== null) return waitsFor === 'approval' ? 'waitingApproval' : 'waitingAnswer'
  if (!running) return 'interrupted'
  if (!begun) return 'pending'
  return connected ? 'running' : 'unknown'
}

/** Whether a call has not ended. */
export function isOpen(status: ToolStatus): boolean {
  return (
    status === 'pending' ||
    status === 'running' ||
    status === 'waitingApproval' ||
    status === 'waitingAnswer' ||
    status === 'unknown'
  )
}

/** Whether all is well with a call, so that it may be told in a line with others. */
export function isWell(status: ToolStatus): boolean {
  return isOpen(status) || status === 'done'
}

/** Whether a sign does not say enough, so that the word is shown. */
export function needsWord(status: ToolStatus): boolean {
  return status !== 'done' && status !== 'running' && status !== 'pending' && status !== 'error' && status !== 'blocked'
}

/** Who cut an answer off; its trouble has what else went wrong. */
export function cutBy(
  stopReason: AssistantRow['stopReason'],
  trouble: Pick<LocalizedError, 'kind'> | null | undefined,
): AssistantRow['cutBy'] {
  if (stopReason !== 'aborted') return null
  if (trouble?.kind === 'interrupted') return 'server'
  return trouble ? null : 'user'
}

/** What a run is doing: `phase` names its text, and its clock stands still while it only waits. */
export interface RunStand {
  phase: NonNullable<RunView['phase']> | 'stopping' | 'disconnected'
  /** How long it has been at work; null if it is unknown. */
  workedMs: number | null
  /** How long there was no sign of life; null if that means nothing here. */
  quietMs: number | null
}

export function runStands(run: RunView, connected: boolean, now: number): RunStand {
  const { startedAt, since, waitedMs, lastActivity } = run
  const waits = run.phase === 'waiting_for_user' || run.phase === 'retrying'
  // What happened after the connection was lost is unknown.
  const seen = connected ? now : Math.max(since, Math.min(now, lastActivity))
  const workedMs = startedAt === null ? null : Math.max(0, (waits ? since : seen) - startedAt - waitedMs)
  if (!connected) return { phase: 'disconnected', workedMs, quietMs: null }
  const phase = run.state === 'stopping' ? 'stopping' : (run.phase ?? 'preparing')
  return { phase, workedMs, quietMs: waits ? null : now - lastActivity }
}
