import { nextTick, onScopeDispose, ref, shallowRef } from 'vue'

export type ListingPhase = 'loading' | 'ready' | 'failed'

/** A list that comes whole. What is shown stays while it is read again. */
export function useListing<Item>(read: (signal: AbortSignal) => Promise<readonly Item[]>) {
  const items = shallowRef<readonly Item[]>([])
  const phase = ref<ListingPhase>('loading')
  const problem = shallowRef<unknown>(null)
  let reading = new AbortController()

  async function load(): Promise<void> {
    reading.abort()
    reading = new AbortController()
    const { signal } = reading
    if (phase.value === 'failed') phase.value = 'loading'
    try {
      const found = await read(signal)
      if (signal.aborted) return
      const focused = document.activeElement
      items.value = found
      phase.value = 'ready'
      await nextTick()
      // What had the focus is gone with its row: the keys go on at the beginning of the page, not of the document.
      if (focused && !focused.isConnected) document.getElementById('main')?.focus()
    } catch (error) {
      if (signal.aborted) return
      problem.value = error
      phase.value = 'failed'
    }
  }

  onScopeDispose(() => reading.abort())
  void load()
  return { items, phase, problem, load }
}
