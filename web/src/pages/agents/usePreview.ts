import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import { api } from '@/api'
import type { AgentPreview, AgentSpec } from '@/protocol'
import { isSame } from '../parts/changes'

/** Long enough that typing asks once, short enough not to wait for. */
const QUIET_MS = 350

/** What an agent like this would be told and could use, while it is edited. What is shown stays until there is something newer. */
export function usePreview(spec: () => AgentSpec | null, isWanted: () => boolean) {
  const preview = shallowRef<AgentPreview | null>(null)
  const problem = shallowRef<unknown>(null)
  const isLoading = ref(false)
  let shown: AgentSpec | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking = new AbortController()

  async function ask(wanted: AgentSpec): Promise<void> {
    asking.abort()
    asking = new AbortController()
    const { signal } = asking
    isLoading.value = true
    try {
      const answer = await api.agents.preview(wanted, signal)
      if (signal.aborted) return
      preview.value = answer
      problem.value = null
      shown = wanted
    } catch (error) {
      if (signal.aborted) return
      problem.value = error
    }
    isLoading.value = false
  }

  watch(
    [spec, isWanted],
    ([wanted, isNow]) => {
      clearTimeout(timer)
      if (!wanted || !isNow || isSame(wanted, shown)) return
      timer = setTimeout(() => void ask(wanted), preview.value ? QUIET_MS : 0)
    },
    { immediate: true },
  )
  onScopeDispose(() => {
    clearTimeout(timer)
    asking.abort()
  })

  return {
    preview,
    problem,
    isLoading,
    retry: () => {
      const wanted = spec()
      if (wanted) void ask(wanted)
    },
  }
}
