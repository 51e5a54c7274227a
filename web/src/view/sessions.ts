import type { AgentBrief, SessionListItem } from '@/protocol'
import { millisOf, oneLine } from './content'
import type { SessionRow } from './types'

/** The list of sessions. Which one is open only the page knows; what is read there is not unread. */
export function sessionRows(
  items: readonly SessionListItem[],
  agents: readonly AgentBrief[],
  openId: string | null,
): readonly SessionRow[] {
  const names = new Map(agents.map((agent) => [agent.id, agent.label || agent.name]))
  // Where there is only one agent its name tells nothing.
  const nameOf = (id: string | null) => (agents.length > 1 && id !== null ? (names.get(id) ?? '') : '')
  return items.map((item) => ({
    id: item.sessionId,
    title: item.title ?? oneLine(item.firstMessage ?? '', 60),
    preview: oneLine(item.firstMessage ?? '', 160),
    agentName: nameOf(item.agentId),
    updatedAt: millisOf(item.updatedAt) ?? 0,
    running: item.running,
    asking: item.waiting,
    unread: item.unread && item.sessionId !== openId,
    archived: item.status === 'archived',
    current: item.sessionId === openId,
  }))
}
