/** What has happened in sessions that the user should know of. */

import type { SessionListItem } from '@/protocol'
import { oneLine } from './content'

export interface News {
  readonly sessionId: string
  readonly title: string
  readonly kind: 'finished' | 'waiting'
}

type Seen = Pick<SessionListItem, 'running' | 'waiting'>

/** Compares the list of sessions with what it was before. What is seen for the first time is not news. */
export function newsTracker(): (items: readonly SessionListItem[]) => readonly News[] {
  const known = new Map<string, Seen>()
  return (items) =>
    items.flatMap<News>(({ sessionId, running, waiting, title, firstMessage }) => {
      const before = known.get(sessionId)
      known.set(sessionId, { running, waiting })
      if (!before) return []
      const named = { sessionId, title: title ?? oneLine(firstMessage ?? '', 60) }
      if (waiting && !before.waiting) return [{ ...named, kind: 'waiting' as const }]
      if (before.running && !running && !waiting) return [{ ...named, kind: 'finished' as const }]
      return []
    })
}
