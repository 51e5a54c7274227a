import { computed, onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'
import { useSession } from '@/stores'
import { finder, FOUND_MAX, type FoundView } from '@/view/find'
import { loadedFrom } from '@/view/transcript'
import type { TranscriptRow } from '@/view/types'
import { mark, rangesIn, unmark } from './highlights'

/** The transcript, as far as it is moved and looked at from here. */
export interface FindView {
  /** The element that all rows are in. */
  content(): HTMLElement | null
  /** The place of the row at the top of the view. */
  topIndex(): number
  /** Brings the place that `target` finds in a row into view, once it is drawn. */
  reveal(key: string, target: (row: HTMLElement) => DOMRect | null): Promise<void>
  open(keys: readonly string[]): void
}

/** While rows change all the time they are searched this often. */
const AGAIN_MS = 250

/** Finds words in the whole active path, of which the page holds only what is near the view. */
export function useFind(rows: Readonly<Ref<readonly TranscriptRow[]>>, view: Readonly<Ref<FindView | null>>) {
  const session = useSession()
  const find = finder()
  const isOpen = ref(false)
  const words = ref('')
  const found = shallowRef<readonly FoundView[]>([])
  const current = shallowRef<FoundView | null>(null)
  /** Older messages are still being fetched. */
  const isSearching = ref(false)

  const at = computed(() => (current.value ? found.value.findIndex((other) => isSame(other, current.value!)) : -1))
  const count = computed(() => Math.min(found.value.length, FOUND_MAX))
  const isMore = computed(() => found.value.length > FOUND_MAX)

  let timer: ReturnType<typeof setTimeout> | undefined
  let frame = 0
  const changes = new MutationObserver(drawSoon)

  watch(isOpen, (open) => {
    if (open) {
      look()
      void loadRest()
    } else {
      changes.disconnect()
      cancelAnimationFrame(frame)
      unmark()
    }
  })
  watch(words, () => {
    current.value = null
    look()
    go(0)
    void loadRest()
  })
  watch(rows, () => {
    if (isOpen.value) timer ??= setTimeout(look, AGAIN_MS)
  })
  onScopeDispose(close)

  function look(): void {
    clearTimeout(timer)
    timer = undefined
    if (!isOpen.value) return
    found.value = find(rows.value, words.value)
    if (!current.value && found.value.length > 0) go(0)
    const content = view.value?.content()
    if (content) changes.observe(content, { childList: true, characterData: true, subtree: true })
    drawSoon()
  }

  /** Loads all older messages, a page at a time, while the find bar is open. */
  async function loadRest(): Promise<void> {
    if (isSearching.value) return
    isSearching.value = true
    try {
      while (isOpen.value && words.value.trim() !== '' && session.state) {
        const { sessionId } = session.state
        const before = loadedFrom(session.state)
        if (before === 0) return
        await session.loadOlder()
        const isStuck =
          session.state?.sessionId === sessionId && loadedFrom(session.state) >= before && !session.loadingOlder
        if (isStuck) return
        // Another caller may be fetching them at this moment.
        if (session.loadingOlder) await new Promise((resolve) => requestAnimationFrame(resolve))
      }
    } finally {
      isSearching.value = false
    }
  }

  /** To the next or previous place; 0 is the first one from where the reader is. */
  function go(step: -1 | 0 | 1): void {
    const all = found.value.slice(0, count.value)
    if (all.length === 0) return
    const next =
      step === 0 || at.value < 0 ? firstFrom(view.value?.topIndex() ?? 0) : (at.value + step + all.length) % all.length
    current.value = all[next]!
    void show(current.value)
  }

  /** The first place at or below a row, else the last one. */
  function firstFrom(index: number): number {
    const places = new Map(rows.value.map((row, place) => [row.key, place]))
    const below = found.value.slice(0, count.value).findIndex(({ rowKey }) => places.get(rowKey)! >= index)
    return below < 0 ? count.value - 1 : below
  }

  async function show(place: FoundView): Promise<void> {
    view.value?.open(place.openKeys)
    await view.value?.reveal(place.rowKey, (row) =>
      current.value === place ? (rangeOf(place, row)?.getBoundingClientRect() ?? null) : null,
    )
    drawSoon()
  }

  function rangeOf({ partKey, nth }: FoundView, row: HTMLElement): Range | null {
    const part = partKey === null ? row : row.querySelector(`[data-part="${CSS.escape(partKey)}"]`)
    if (!part) return null
    const ranges = rangesIn(part.querySelector(':scope > .inside') ?? part, words.value)
    return ranges[Math.min(nth, ranges.length - 1)] ?? null
  }

  function drawSoon(): void {
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(draw)
  }

  function draw(): void {
    const content = view.value?.content()
    if (!isOpen.value || !content) return unmark()
    const place = current.value
    const row = place && content.querySelector<HTMLElement>(`[data-row="${CSS.escape(place.rowKey)}"]`)
    mark(rangesIn(content, words.value), row ? rangeOf(place, row) : null)
  }

  function close(): void {
    isOpen.value = false
    clearTimeout(timer)
    timer = undefined
    changes.disconnect()
    cancelAnimationFrame(frame)
    unmark()
  }

  return { isOpen, words, at, count, isMore, isSearching, current, go, close }
}

const isSame = (a: FoundView, b: FoundView): boolean =>
  a.rowKey === b.rowKey && a.partKey === b.partKey && a.nth === b.nth
