import { computed, shallowRef } from 'vue'
import { onBeforeRouteLeave } from 'vue-router'
import { api, imageAddress } from '@/api'
import type { JsonValue, SkillTried } from '@/protocol'
import { useActions } from '@/chat/useActions'
import { useConnection, usePrefs, useSession } from '@/stores'
import { approvalViews } from '@/view/approval'
import { transcriptProjector } from '@/view/transcript'
import { toolIn } from './skills'

/** A skill that is being tried: in a session of its own, of which its one call is shown. */
export function useTrial() {
  const session = useSession()
  const connection = useConnection()
  const prefs = usePrefs()
  const actions = useActions()
  const project = transcriptProjector()
  const tried = shallowRef<SkillTried | null>(null)

  const state = computed(() =>
    tried.value && session.state?.sessionId === tried.value.sessionId ? session.state : null,
  )
  const tool = computed(() => {
    if (!state.value || !tried.value) return null
    const { sessionId } = state.value
    const rows = project(state.value, {
      verbosity: 'everything',
      language: prefs.language,
      pending: [],
      showsFolded: false,
      loadingOlder: false,
      connected: connection.isConnected,
      address: (entryId, number) => imageAddress(sessionId, entryId, number),
    })
    return toolIn(rows, tried.value.toolCallId)
  })

  async function run(name: string, input: JsonValue, agentName: string | null): Promise<void> {
    tried.value = null
    tried.value = await api.skills.try(name, { input, ...(agentName === null ? {} : { agentName }) })
    session.open(tried.value.sessionId)
  }

  async function stop(): Promise<void> {
    if (tried.value) await connection.request('stop', { sessionId: tried.value.sessionId })
  }

  // The session page then shows it expanded.
  onBeforeRouteLeave((to) => {
    if (tried.value && to.name !== 'session' && session.id === tried.value.sessionId) session.open(null)
  })

  return {
    tried,
    tool,
    /** Its calls that wait for approval. */
    approvals: computed(() => approvalViews(state.value?.approvals ?? [], actions.decisions.value)),
    decide: actions.decide,
    isRunning: computed(() => tried.value !== null && (state.value === null || state.value.run.status !== 'idle')),
    run,
    stop,
  }
}
