const FIRST_MS = 1_000
const LONGEST_MS = 30_000

/**
 * How long to wait before the next try: longer each time, and never the same for all who lost
 * their connection at the same moment. There is no last try.
 */
export function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10))
  return Math.round(full / 2 + (full / 2) * random())
}
