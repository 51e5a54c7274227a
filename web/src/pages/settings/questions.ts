/** The time after which questions expire, as the settings page shows it. Pure. */

export const QUESTION_TIMEOUT = 'clarify.timeoutMs'

const MINUTE_MS = 60_000
const MINUTES_MAX = 365 * 24 * 60

/** Empty if questions do not expire. */
export const minutesOf = (timeoutMs: unknown): string =>
  typeof timeoutMs === 'number' ? String(Math.round((timeoutMs / MINUTE_MS) * 100) / 100) : ''

/** Whether the text is neither empty nor a number of minutes. */
export function minutesProblem(text: string): boolean {
  if (text.trim() === '') return false
  const minutes = Number(text)
  return !(minutes * MINUTE_MS >= 1 && minutes <= MINUTES_MAX)
}

export const timeoutOf = (text: string): number | null =>
  text.trim() === '' ? null : Math.round(Number(text) * MINUTE_MS)
