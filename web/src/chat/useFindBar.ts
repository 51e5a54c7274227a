import type { Ref } from 'vue'
import { useSession } from '@/stores'
import type { TranscriptRow } from '@/view/types'
import { useFind, type FindView } from './useFind'

interface FindBar {
  focus(): void
  hasFocus(): boolean
}

/** Opens and closes the bar that finds words. While it is open, folded messages are shown too. */
export function useFindBar(
  bar: Readonly<Ref<FindBar | null>>,
  rows: Readonly<Ref<readonly TranscriptRow[]>>,
  transcript: Readonly<Ref<FindView | null>>,
  showsFolded: Ref<boolean>,
  focusComposer: () => void,
) {
  const session = useSession()
  const find = useFind(rows, transcript)
  /** Where the focus was, and whether all was shown, before the bar was opened. */
  let before: { focus: Element | null; showsFolded: boolean } | null = null

  /** Whether the bar takes the key: a second time it is the browser's own search that is wanted. */
  function open(): boolean {
    if (session.state === null || bar.value?.hasFocus()) return false
    if (find.isOpen.value) bar.value?.focus()
    else {
      before = { focus: document.activeElement, showsFolded: showsFolded.value }
      showsFolded.value = true
      find.isOpen.value = true
    }
    return true
  }

  function close(): void {
    // A place that was found in folded messages stays in view.
    const folded = rows.value.findIndex((row) => row.kind === 'folded')
    const reader = rows.value.findIndex((row) => row.key === find.current.value?.rowKey)
    if (before && (reader < 0 || reader > folded)) showsFolded.value = before.showsFolded
    find.close()
    if (before?.focus instanceof HTMLElement && before.focus.isConnected && before.focus !== document.body)
      before.focus.focus()
    else focusComposer()
  }

  return { find, open, close }
}
