import { ref, shallowRef, watch } from 'vue'
import { api } from '@/api'
import { breakdownView } from '@/view/sessionPanels'
import type { BreakdownView } from '@/view/types'

/** What fills the context: fetched while it is shown, and again when the numbers change. */
export function useBreakdown(sessionId: () => string | null, used: () => number) {
  const isLooking = ref(false)
  const breakdown = shallowRef<BreakdownView | null>(null)

  watch([sessionId, used, isLooking], async ([id, , looks], [before], onCleanup) => {
    if (id !== before) breakdown.value = null
    if (id === null || !looks) return
    const reading = new AbortController()
    onCleanup(() => reading.abort())
    try {
      const told = await api.context(id, reading.signal)
      if (!reading.signal.aborted) breakdown.value = breakdownView(told)
    } catch {
      // The sum is there without it.
      if (!reading.signal.aborted) breakdown.value = null
    }
  })

  return { breakdown, look: (looks: boolean) => void (isLooking.value = looks) }
}
