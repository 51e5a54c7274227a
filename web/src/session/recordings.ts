/** Recorded conversations for tests: made by `tools/record.mjs` with the real server. */

import type { Opened, ServerEvent } from '@/protocol'

export interface Recording {
  /** What a client got that opened the session at the beginning. */
  opened: Opened
  events: ServerEvent[]
  /** What a client got that opened it at the end. */
  closed: Opened
}

const files = import.meta.glob<Recording>('./recordings/*.json', { eager: true, import: 'default' })

export const RECORDINGS: readonly (readonly [string, Recording])[] = Object.entries(files).map(
  ([path, recording]) => [path.replace(/.*\/(.*)\.json/, '$1'), recording] as const,
)
