import type { Ref } from 'vue'
import type { TranscriptRow } from '@/view/types'

interface Transcript {
  topIndex(): number
  goTo(key: string): Promise<void>
}

/** The parts of the page that F6 goes through, in order. */
const REGIONS = [
  '#session-search',
  '[data-region=transcript]',
  '[data-region=composer] textarea',
  '[data-region=tree] [role=tree]',
]

/** Moves through the page by keys. */
export function useNavigation(
  rows: Readonly<Ref<readonly TranscriptRow[]>>,
  transcript: Readonly<Ref<Transcript | null>>,
) {
  /** The entry of the branch before or after the one shown, at the focused row or else at the last fork. */
  function siblingEntry(step: 1 | -1): string | undefined {
    const focused = document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset['row']
    const row = rows.value.findLast((row) => row.branch !== null && (focused === undefined || row.key === focused))
    return row?.branch?.ids[row.branch.index + step]
  }

  function toUserMessage(step: 1 | -1): void {
    const users = rows.value.flatMap((row, at) => (row.kind === 'user' ? [at] : []))
    const top = transcript.value?.topIndex() ?? 0
    const at = step < 0 ? users.findLast((index) => index < top) : users.find((index) => index > top)
    if (at !== undefined) void transcript.value?.goTo(rows.value[at]!.key)
  }

  function toRegion(step: 1 | -1): void {
    // The sidebar of a phone is there and not to be seen; what its tree covers takes no keys.
    const found = REGIONS.map((region) => document.querySelector<HTMLElement>(region)).filter(
      (region): region is HTMLElement => region !== null && region.checkVisibility() && !region.closest('[inert]'),
    )
    const at = found.findIndex((region) => region.contains(document.activeElement))
    found[(at + step + found.length) % found.length]?.focus()
  }

  return { siblingEntry, toUserMessage, toRegion }
}
