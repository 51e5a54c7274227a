/**
 * The one way a session changes on this side: `(state, event) → state`, pure.
 *
 * Reliable events count without gaps: an old number is dropped, a number too far asks for a
 * replay, another epoch for a snapshot. Text carries offsets: what is known is dropped, and what
 * leaves a gap asks for a replay, with which all open text comes again. Applying anything twice
 * changes nothing.
 */

import type { Entry, ServerEvent } from '@/protocol'
import { reduceDelta } from './deltas'
import { reduceReliable } from './reliable'
import type { SessionState } from './state'
import { wanting } from './wants'

export function reduce(state: SessionState, event: ServerEvent): SessionState {
  if (event.sessionId !== state.sessionId) return state
  if (event.epoch !== state.epoch) return wanting(state, 'snapshot')
  const seq = event.seq ?? null
  if (seq === null) return reduceDelta(state, event)
  if (seq <= state.seq) return state
  if (seq > state.seq + 1) return wanting(state, 'replay')
  const next = reduceReliable(state, event)
  return { ...next, seq, lastActivity: Math.max(next.lastActivity, event.ts) }
}

/** Entries from elsewhere, such as older ones that were scrolled to. */
export function withEntries(state: SessionState, entries: readonly Entry[]): SessionState {
  const fresh = entries.filter((entry) => !state.entries.has(entry.id))
  if (fresh.length === 0) return state
  return { ...state, entries: state.entries.withAll(fresh.map((entry) => [entry.id, entry] as const)) }
}
