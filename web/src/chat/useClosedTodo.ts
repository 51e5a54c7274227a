import { computed, shallowRef } from 'vue'
import { load, save } from '@/browser/storage'
import type { SessionState } from '@/session'

const KEY = 'netaclaw.todo.closed'
/** The oldest are forgotten beyond it. */
const SESSIONS_MAX = 50

/** To-do lists that were closed after their run, by session. A list that changes is shown again. */
export function useClosedTodo(state: () => SessionState | null) {
  const closed = shallowRef<Readonly<Record<string, string>>>(load('session', KEY, {}))
  const fingerprint = computed(() => {
    const todo = state()?.todo
    return todo ? todo.items.map(({ id, status, text }) => `${id} ${status} ${text}`).join('\n') : ''
  })
  const isClosed = computed(() => {
    const known = state()
    return known !== null && known.run.status === 'idle' && closed.value[known.sessionId] === fingerprint.value
  })

  function close(): void {
    const known = state()
    if (!known) return
    const { [known.sessionId]: _, ...others } = closed.value
    const kept = Object.entries(others).slice(1 - SESSIONS_MAX)
    closed.value = { ...Object.fromEntries(kept), [known.sessionId]: fingerprint.value }
    save('session', KEY, closed.value)
  }

  return { isClosed, close }
}
