import type { SessionState } from './state'

/** What was missing has been asked for, and comes. */
export function withoutWants(state: SessionState): SessionState {
  return state.wants === null ? state : { ...state, wants: null }
}

/** Asks for something; who wants a snapshot does not need a replay. */
export function wanting(state: SessionState, wants: 'replay' | 'snapshot'): SessionState {
  if (state.wants === wants || state.wants === 'snapshot') return state
  return { ...state, wants }
}
