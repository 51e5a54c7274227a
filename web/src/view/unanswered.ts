import type { TranscriptRow } from './types'

/**
 * The key of the message that the session ends with and nothing has answered, as in a fork of a question; else null.
 * A change of the model or of the thinking level after it is not an answer.
 */
export function unansweredKey(rows: readonly TranscriptRow[]): string | null {
  const last = rows.findLast((row) => row.kind !== 'notice')
  return last?.kind === 'user' && last.entryId !== null ? last.key : null
}
