import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import { api } from '@/api'
import type { AgentPreview, AgentSpec } from '@/protocol'
import { isSame } from '../editor/changes'

/** For whom the tools are: the agent itself, or one that it delegates to. */
export type ToolSeat = 'main' | 'subagent'

/** Long enough that typing asks once, short enough not to wait for. */
const QUIET_MS = 350

/** What an agent like this would be told and could use, while it is edited. What is shown stays until there is something newer. */
export function usePreview(spec: () => AgentSpec | null, seat: () => ToolSeat, isWanted: () => boolean) {
  const preview = shallowRef<AgentPreview | null>(null)
  const problem = shallowRef<unknown>(null)
  const isLoading = ref(false)
  let shown: { spec: AgentSpec; seat: ToolSeat } | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking = new AbortController()

  async function ask(wanted: AgentSpec, of: ToolSeat): Promise<void> {
    asking.abort()
    asking = new AbortController()
    const { signal } = asking
    isLoading.value = true
    try {
      const answer = await api.agents.preview(wanted, of, signal)
      if (signal.aborted) return
      preview.value = answer
      problem.value = null
      shown = { spec: wanted, seat: of }
    } catch (error) {
      if (signal.aborted) return
      problem.value = error
    }
    isLoading.value = false
  }

  watch(
    [spec, seat, isWanted] as const,
    ([wanted, of, isNow]) => {
      clearTimeout(timer)
      if (!wanted || !isNow || isSame({ spec: wanted, seat: of }, shown)) return
      timer = setTimeout(() => void ask(wanted, of), preview.value ? QUIET_MS : 0)
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
      if (wanted) void ask(wanted, seat())
    },
  }
}
