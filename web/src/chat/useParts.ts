import { computed, type ComputedRef } from 'vue'
import type { SessionState } from '@/session'

/**
 * The session, as the same object for as long as these parts of it are the same: what is made from
 * them is not made again for every token.
 */
export function useParts(
  state: () => SessionState | null,
  ...parts: readonly (keyof SessionState)[]
): ComputedRef<SessionState | null> {
  return computed<SessionState | null>((before) => {
    const now = state()
    return before && now && parts.every((part) => before[part] === now[part]) ? before : now
  })
}
