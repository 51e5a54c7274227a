/** The session that this user of the browser had open last, as a pointer: everything else is on the server. */

import { load, save } from './storage'

const KEY = 'netaclaw.session'

interface Pointer {
  readonly userId: string
  readonly sessionId: string
}

/** Null if the user had none open, or went on to a new one. */
export function lastSession(userId: string): string | null {
  const kept = load<Pointer | null>('local', KEY, null)
  return kept?.userId === userId && typeof kept.sessionId === 'string' ? kept.sessionId : null
}

export function rememberSession(userId: string, sessionId: string | null): void {
  save('local', KEY, sessionId === null ? null : { userId, sessionId })
}
