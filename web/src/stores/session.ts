import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import type { EntryPage, Opened, ServerEvent } from '@/protocol'
import { request } from '@/api'
import { fromSnapshot, reduce, withEntries, withoutWants, type SessionState } from '@/session'
import type { LinkError } from '@/socket'
import { loadedFrom } from '@/view/transcript'
import { useConnection } from './connection'
import { atNextFrame } from './frames'

export type SessionPhase = 'none' | 'loading' | 'ready' | 'missing' | 'error'

/** Entries that are fetched at a time. */
const PAGE = 200
/** Below this many loaded entries more are fetched without being asked for. */
const LOADED_MIN = 30
/** How soon after a sync another one may follow; doubled while they do not help. */
const SYNC_AGAIN_MS = 250
const SYNC_AGAIN_MAX_MS = 10_000

/** The session that is shown: server truth, kept in step. */
export const useSession = defineStore('session', () => {
  const connection = useConnection()
  const id = ref<string | null>(null)
  const state = shallowRef<SessionState | null>(null)
  const phase = ref<SessionPhase>('none')
  const problem = ref('')
  const loadingOlder = ref(false)
  /** How often something was missing and was asked for again. */
  const healed = ref(0)
  /** The agent that was chosen for the next message, if it is another one. */
  const nextAgentId = ref<string | null>(null)
  const agentId = computed(() => nextAgentId.value ?? state.value?.meta.agentId ?? null)
  // A switch in this tab has happened then, and one in another tab came first.
  watch(
    () => state.value?.meta.agentId,
    () => (nextAgentId.value = null),
    { flush: 'sync' },
  )

  let waiting: ServerEvent[] = []
  let framed = false
  let syncing = false
  let nextSyncAt = 0
  let syncPause = SYNC_AGAIN_MS
  /** When older entries were asked for in vain; not to be done again at once. */
  let olderFailedAt = 0

  connection.onConnected(() => {
    syncing = false
    sync()
  })
  connection.onEvent((event) => {
    if (event.sessionId !== id.value) return
    waiting.push(event)
    if (!framed) {
      framed = true
      atNextFrame(applyWaiting)
    }
  })
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) sync()
  })
  // A page that was frozen or in the back/forward cache resumes without any other event.
  window.addEventListener('pageshow', () => sync())

  function open(sessionId: string | null): void {
    if (sessionId === id.value) return
    const left = id.value
    if (left !== null && connection.isConnected) {
      connection.ask('session_close', { sessionId: left }, ignore, ignore)
    }
    id.value = sessionId
    state.value = null
    nextAgentId.value = null
    waiting = []
    syncing = false
    syncPause = SYNC_AGAIN_MS
    phase.value = sessionId === null ? 'none' : 'loading'
    sync()
  }

  /** Brings the session up to date with the server, from where it is. */
  function sync(): void {
    const sessionId = id.value
    if (sessionId === null || syncing || !connection.isConnected) return
    syncing = true
    applyWaiting()
    const known = state.value
    const from = known && known.wants !== 'snapshot' ? { epoch: known.epoch, lastSeq: known.seq } : {}
    const mine = () => sessionId === id.value
    connection.ask(
      'session_open',
      { sessionId, ...from },
      (opened) => mine() && joined(opened),
      (error) => mine() && failed(error),
    )
  }

  function joined(opened: Opened): void {
    syncing = false
    nextSyncAt = Date.now() + syncPause
    if (opened.mode === 'snapshot') {
      waiting = []
      state.value = fromSnapshot(opened, state.value, Date.now())
    } else if (state.value) {
      // What arrived before the answer is known to the server as missed, and comes again.
      applyWaiting()
      if (state.value) state.value = withoutWants(state.value)
    }
    arrived()
  }

  /** What is deleted can be brought back by the server; here it is gone. */
  function arrived(): void {
    phase.value = state.value?.meta.status === 'deleted' ? 'missing' : 'ready'
    void loadMissing()
  }

  function failed(error: LinkError): void {
    syncing = false
    if (error.code === 'not_found') phase.value = 'missing'
    else if (!error.isTransient) {
      phase.value = state.value ? 'ready' : 'error'
      problem.value = error.message
    } else if (error.code !== 'disconnected') setTimeout(sync, SYNC_AGAIN_MAX_MS)
  }

  function applyWaiting(): void {
    framed = false
    if (!state.value || waiting.length === 0) return
    const events = waiting
    waiting = []
    const next = events.reduce(reduce, state.value)
    if (next === state.value) return
    state.value = next
    if (next.wants !== null) heal()
    else if (Date.now() > nextSyncAt + SYNC_AGAIN_MAX_MS) syncPause = SYNC_AGAIN_MS
    arrived()
  }

  /** Something is missing. It is fetched at once, and again after a delay if that fails. */
  function heal(): void {
    const pause = nextSyncAt - Date.now()
    if (pause <= 0) {
      syncPause = Math.min(SYNC_AGAIN_MAX_MS, syncPause * 2)
      healed.value++
      sync()
    } else setTimeout(() => state.value?.wants && sync(), pause)
  }

  /** After a move to another branch, its end may not be loaded. */
  async function loadMissing(): Promise<void> {
    const known = state.value
    if (!known) return
    const from = loadedFrom(known)
    const mayAsk = Date.now() - olderFailedAt > SYNC_AGAIN_MAX_MS
    if (mayAsk && from > 0 && known.path.length - from < LOADED_MIN) await loadOlder()
  }

  async function loadOlder(): Promise<void> {
    const known = state.value
    if (!known || loadingOlder.value) return
    const from = loadedFrom(known)
    if (from === 0) return
    loadingOlder.value = true
    try {
      const before = known.path[from] ?? null
      const page = await request<EntryPage>(`sessions/${encodeURIComponent(known.sessionId)}/messages`, {
        query: { view: 'full', before, limit: PAGE },
      })
      if (state.value?.sessionId === known.sessionId) state.value = withEntries(state.value, page.items)
    } catch {
      // The row that offers older entries stays, and can be asked again.
      olderFailedAt = Date.now()
    } finally {
      loadingOlder.value = false
    }
  }

  /** The agent that is to answer from the next message on. */
  function chooseAgent(chosen: string): void {
    nextAgentId.value = chosen === (state.value?.meta.agentId ?? null) ? null : chosen
  }

  return {
    id,
    state,
    phase,
    problem,
    loadingOlder,
    healed,
    nextAgentId,
    /** Of the next message; null if the default one answers. */
    agentId,
    chooseAgent,
    open,
    sync,
    loadOlder,
  }
})

function ignore(): void {}
