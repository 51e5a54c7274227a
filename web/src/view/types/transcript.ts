/** The rows of the transcript. */

import type { AnswerPart, FileView, ImageView, ToolView, UsageView } from './answer'
import type { Remedy } from '../trouble'
import type { Millis } from './time'

export type TranscriptRow =
  | UserRow
  | PendingUserRow
  | AssistantRow
  | ActivityRow
  | ToolRow
  | CompactionRow
  | FoldedRow
  | BranchSummaryRow
  | NoticeRow
  | CustomRow
  | ErrorRow

export type TranscriptRowKind = TranscriptRow['kind']

interface RowBase {
  /** Stable for the life of the row, also when a streamed answer becomes an entry. */
  key: string
  /** The entry the row stands for; what retry, edit, label and fork are asked about. */
  entryId: string | null
  /** Set where the entry has siblings. */
  branch: BranchPoint | null
  label: string | null
  at: Millis | null
}

/** The siblings at a fork: `‹ index+1 / count ›`. */
export interface BranchPoint {
  /** Counted from 0. */
  index: number
  count: number
  /** All siblings in order; `ids[index]` is the one on the active path. */
  ids: readonly string[]
}

export interface UserRow extends RowBase {
  kind: 'user'
  text: string
  images: readonly ImageView[]
  files: readonly FileView[]
  /** Went in during a run, after a round of tools. */
  steered: boolean
  /** The model that answered and did not receive the images; null if it did, or there are none. */
  unseenBy: string | null
}

/** A message on its way to the server. */
export interface PendingUserRow extends RowBase {
  kind: 'pending'
  requestId: string
  text: string
  images: readonly ImageView[]
  files: readonly FileView[]
  state: 'sending' | 'waiting' | 'failed'
  /** Why it failed, in the user's language. */
  problem: string | null
}

/** One model response. A turn with tools is several of these in a row. */
export interface AssistantRow extends RowBase {
  kind: 'assistant'
  parts: readonly AnswerPart[]
  /** Text is still arriving. */
  streaming: boolean
  /** Follows another row of the same turn: no avatar and no name of its own. */
  continues: boolean
  /** The last row of its turn: actions and numbers are shown here. */
  ends: boolean
  /** The next row goes on with the same text. */
  cut: boolean
  /** What rows above this one hold of the same answer, if it is long. */
  above: readonly AnswerPart[]
  provider: string
  model: string
  stopReason: 'stop' | 'length' | 'toolUse' | 'error' | 'aborted' | null
  /** How it ended early; null if it did not, or if `errorMessage` says it. */
  cutBy: 'user' | 'server' | null
  /** Why it failed or ended early, in the user's language as far as the server knows it. */
  errorMessage: string | null
  /** Whether that says what to do about it. */
  advised: boolean
  remedies: readonly Remedy[]
  /** The channel that failed, by its name. */
  channel: string | null
  usage: UsageView | null
}

/** Finished thinking and tool calls, folded to one line (verbosity "summary"). */
export interface ActivityRow extends RowBase {
  kind: 'activity'
  parts: readonly AnswerPart[]
  /** Some of it goes on, or nothing has followed yet. */
  live: boolean
  toolCount: number
  thinkingCount: number
  /** Tools by name, the most used first. */
  tools: readonly { name: string; label: string; count: number }[]
  durationMs: number | null
  /** The answer whose foot stands here, because this is the last that is shown of it. */
  answer: AssistantRow | null
}

/** A tool call whose answer is not known (yet), so that nothing is ever dropped. */
export interface ToolRow extends RowBase {
  kind: 'tool'
  tool: ToolView
}

export interface CompactionRow extends RowBase {
  kind: 'compaction'
  state: 'running' | 'done' | 'error'
  /** Who asked for it; null if unknown. */
  reason: 'manual' | 'auto' | 'overflow' | 'branch' | null
  /** How far it is, while it is under way. */
  stage: CompactionStage | null
  summary: string
  tokensBefore: number | null
  tokensAfter: number | null
  /** Messages that it stands in for and that are above it on this path. */
  messageCount: number | null
  /** Why nothing came of it, in the user's language. */
  problem: string | null
  /** It failed; otherwise there was nothing to do, or a user stopped it. */
  isFault: boolean
  canRetry: boolean
  canDismiss: boolean
  /** When the next automatic attempt begins. */
  retryAt: Millis | null
  /** The entry from which one goes on as if it had not been. */
  undoTo: string | null
  about: CompactionAbout | null
}

export type CompactionStage =
  { stage: 'planning' | 'shortening' | 'checking' | 'saving' } | { stage: 'summarizing'; part: number; parts: number }

/** What there is to know about a summary besides its words. */
export interface CompactionAbout {
  model: string | null
  durationMs: number | null
  /** Messages that were left as they are. */
  keptCount: number | null
  /** What it was asked to pay attention to. */
  instructions: string | null
  readFiles: readonly string[]
  modifiedFiles: readonly string[]
  /** Calls with effects, which the summary keeps in mind. */
  calls: readonly { call: string; failed: boolean; times: number }[]
}

/** Above it stands what the model reads only as a summary; it can be shown or not. */
export interface FoldedRow extends RowBase {
  kind: 'folded'
  count: number
  isOpen: boolean
}

export interface BranchSummaryRow extends RowBase {
  kind: 'branchSummary'
  fromId: string
  summary: string
}

/** A small line between messages: the model, the thinking level or the agent was changed. */
export interface NoticeRow extends RowBase {
  kind: 'notice'
  notice:
    | { type: 'model'; provider: string; model: string }
    | { type: 'thinking'; level: string }
    | { type: 'agent'; agent: string }
    | { type: 'older'; loading: boolean }
}

/** An entry of a kind that this page does not know, or a message of an extension. */
export interface CustomRow extends RowBase {
  kind: 'custom'
  /** Such as `custom_message`. */
  type: string
  title: string
  text: string
}

export interface ErrorRow extends RowBase {
  kind: 'error'
  severity: 'error' | 'warning'
  message: string
  code: string | null
  /** Whether the message says what to do about it. */
  advised: boolean
  remedies: readonly Remedy[]
  /** The channel that failed, by its name. */
  channel: string | null
}
