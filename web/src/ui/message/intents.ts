import type { Remedy } from '@/view/trouble'
import type { ProcessLog } from '@/view/types'

/** What a reader of a message may want; the page decides what comes of it. */
export type RowIntent =
  | { type: 'retry' }
  /** Open the text for editing, and close it again unsent. */
  | { type: 'startEdit' }
  | { type: 'cancelEdit' }
  /** Send a changed text as a new branch. */
  | { type: 'edit'; text: string }
  | { type: 'fork' }
  | { type: 'showInTree' }
  /** An empty label removes it. */
  | { type: 'label'; label: string }
  | { type: 'switchBranch'; entryId: string }
  | { type: 'openImage'; image: { src: string; alt: string } }
  | { type: 'openSummary' }
  | { type: 'toggleFolded' }
  /** Compact once more, after one that failed. */
  | { type: 'compact' }
  /** The failure of one has been read. */
  | { type: 'dismissCompaction' }
  /** Makes an entry the end of the path: what came after it stays as a branch. */
  | { type: 'continueFrom'; entryId: string }
  /** All steps of a call. */
  | { type: 'openLog'; log: ProcessLog }
  /** Does what an error advises. */
  | { type: 'remedy'; remedy: Remedy; channel: string | null }
  | { type: 'loadOlder' }
  /** For a message that did not reach the server. */
  | { type: 'resend' }
  | { type: 'discard' }
