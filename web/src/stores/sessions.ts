import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import { request } from '@/api'
import type { SessionList, SessionListChange, SessionListItem, SessionStatus } from '@/protocol'
import { useConnection } from './connection'

const PAGE = 50
/** The most that the server gives at once. */
const SIZE_MAX = 200

export type ListPhase = 'loading' | 'ready' | 'error'

/** The list of sessions, newest first, as the server tells it. */
export const useSessions = defineStore('sessions', () => {
  const connection = useConnection()
  const items = shallowRef<readonly SessionListItem[]>([])
  const total = ref(0)
  const phase = ref<ListPhase>('loading')
  const search = ref('')
  const archived = ref(false)
  /** Counts what was asked, so that a late answer does not replace a newer one. */
  let asked = 0
  /** What the server says about the list while it is read. */
  let changes: SessionListChange[] | null = null

  /** Watches the list; its first page, or nothing without a connection. */
  function watch(size: number): Promise<SessionList | null> {
    const filter = { status: status() }
    return new Promise((resolve) =>
      connection.ask('sessions_watch', { filter, limit: Math.min(size, SIZE_MAX) }, resolve, () => resolve(null)),
    )
  }

  async function load(pages = Math.max(1, Math.ceil(items.value.length / PAGE))): Promise<void> {
    const question = ++asked
    changes = []
    try {
      const parts = Math.ceil((pages * PAGE) / SIZE_MAX)
      const size = parts > 1 ? SIZE_MAX : pages * PAGE
      const query = { q: search.value, status: status(), size }
      // Subscribe first, so that changes during the read are received.
      const watched = await watch(search.value === '' ? size : 1)
      if (question !== asked) return
      const first = search.value === '' ? watched : null
      const part = async (_: unknown, at: number) =>
        at === 0 && first ? first : request<SessionList>('sessions', { query: { ...query, page: at + 1 } })
      const lists = await Promise.all(Array.from({ length: parts }, part))
      if (question !== asked) return
      // A session that moved up between two requests is in both.
      const all = lists.flatMap((list) => list.items).map((item) => [item.sessionId, item] as const)
      items.value = [...new Map(all).values()]
      total.value = lists[0]!.total
      phase.value = 'ready'
      // A change that arrived meanwhile may be newer than the page. If it is older, a newer change follows.
      changes?.forEach(take)
    } catch {
      if (question === asked && items.value.length === 0) phase.value = 'error'
    } finally {
      if (question === asked) changes = null
    }
  }

  const status = (): SessionStatus => (archived.value ? 'archived' : 'active')

  function take(change: SessionListChange): void {
    change.sessions.forEach(put)
    change.removed.forEach(forget)
  }

  /** Takes in what the server says about one session. */
  function put(item: SessionListItem): void {
    const others = items.value.filter((other) => other.sessionId !== item.sessionId)
    const isListed = item.status === status()
    const known = others.length < items.value.length
    // Whether an unknown one fits the search only the server knows.
    if (isListed && !known && search.value !== '') return
    total.value += isListed === known ? 0 : isListed ? 1 : -1
    items.value = isListed ? [item, ...others].toSorted(newestFirst) : others
  }

  async function change(
    sessionId: string,
    body: { title?: string; status?: SessionListItem['status'] },
  ): Promise<void> {
    put(await request<SessionListItem>(`sessions/${encodeURIComponent(sessionId)}`, { method: 'PATCH', body }))
  }

  /** Deletes a session. It can be restored for a while, unless it is deleted `now`. */
  async function remove(sessionId: string, now = false): Promise<void> {
    await request(`sessions/${encodeURIComponent(sessionId)}`, {
      method: 'DELETE',
      ...(now ? { query: { now: 'true' } } : {}),
    })
    forget(sessionId)
  }

  function forget(sessionId: string): void {
    const left = items.value.filter((item) => item.sessionId !== sessionId)
    total.value -= items.value.length - left.length
    items.value = left
  }

  connection.onConnected(() => void load())
  connection.onNotice((name, payload) => {
    if (name !== 'session_list_changed') return
    const change = (payload as { data: SessionListChange }).data
    changes?.push(change)
    take(change)
  })

  return {
    items,
    phase,
    search,
    archived,
    hasMore: computed(() => items.value.length < total.value),
    load,
    loadMore: () => load(Math.ceil(items.value.length / PAGE) + 1),
    change,
    remove,
    forget,
  }
})

function newestFirst(a: SessionListItem, b: SessionListItem): number {
  return a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0
}
