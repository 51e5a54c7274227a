import type { AgentBrief, SessionListItem } from '@/protocol'
import { millisOf, oneLine } from './content'
import type { SessionGroup, SessionRow } from './types'

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
    title: item.title ?? oneLine(withoutArguments(item.firstMessage ?? ''), 60),
    preview: oneLine(item.firstMessage ?? '', 160),
    agentName: nameOf(item.agentId),
    updatedAt: millisOf(item.updatedAt) ?? 0,
    running: item.running,
    asking: item.waiting,
    unread: item.unread && item.sessionId !== openId,
    archived: item.status === 'archived',
    current: item.sessionId === openId,
    forked: item.parentSessionId !== null,
  }))
}

const DAY_MS = 86_400_000

/** Sessions of one time together, in their order; `today` is the first moment of the day. */
export function sessionGroups(rows: readonly SessionRow[], today: number): readonly SessionGroup[] {
  const groups: { age: SessionGroup['age']; rows: SessionRow[] }[] = []
  for (const row of rows) {
    const age = ageOf(row.updatedAt, today)
    const last = groups.at(-1)
    if (last?.age === age) last.rows.push(row)
    else groups.push({ age, rows: [row] })
  }
  return groups
}

function ageOf(at: number, today: number): SessionGroup['age'] {
  if (at >= today) return 'today'
  // A day may be an hour longer or shorter than others.
  const days = Math.round((today - startOfDay(at)) / DAY_MS)
  if (days <= 1) return 'yesterday'
  return days <= 7 ? 'week' : days <= 30 ? 'month' : 'older'
}

export function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0)
}

/** A run of a skill is known by the skill's name; what the program gets is not for people. */
export function withoutArguments(message: string): string {
  return /^\s*\/skill\s+(\S+)\s*\{/.exec(message)?.[1] ?? message
}
