/** The agent's list of things to do. */

import type { TodoList } from '@/protocol'
import type { SessionState } from '@/session'
import type { TodoView } from './types'

/** Items that are shown; a longer list says how many it leaves out. */
const ITEMS_MAX = 100

/** `null` if there is no list. */
export function todoView(state: SessionState): TodoView | null {
  const { items } = state.todo
  if (items.length === 0) return null
  const doubted = doneByWords(state)
  const shown = items
    .slice(0, ITEMS_MAX)
    .map((item) => ({ ...item, unverified: item.status === 'done' && doubted.has(item.id) }))
  const counted = items.filter((item) => item.status !== 'cancelled')
  return {
    items: shown,
    done: counted.filter((item) => item.status === 'done').length,
    total: counted.length,
    active: shown.find((item) => item.status === 'in_progress') ?? null,
    hidden: items.length - shown.length,
  }
}

/** The items that became done while no tool was at work since the list was written last. What is not loaded is believed. */
function doneByWords({ path, entries }: SessionState): ReadonlySet<string> {
  const doubted = new Set<string>()
  let known: ReadonlySet<string> | null = null
  let hasWorked = true
  for (const id of path) {
    const entry = entries.get(id)
    if (entry?.type !== 'message' || entry.message.role !== 'toolResult') continue
    const list = listIn(entry.message.details)
    if (!list) {
      hasWorked = true
      continue
    }
    const done = list.items.filter((item) => item.status === 'done').map((item) => item.id)
    for (const id of done.filter((id) => known && !known.has(id))) {
      if (hasWorked) doubted.delete(id)
      else doubted.add(id)
    }
    known = new Set(done)
    hasWorked = false
  }
  return doubted
}

/** The list that a call of its tool has left behind. */
function listIn(details: unknown): TodoList | null {
  const { todo } = (details ?? {}) as { todo?: TodoList }
  return Array.isArray(todo?.items) ? todo : null
}
