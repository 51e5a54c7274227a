/** The parts of an answer, and what tools did. */

import type { ApprovalUse, LocalizedText } from '@/protocol'
import type { Millis } from './time'

export type AnswerPart = TextPart | ThinkingPart | ToolPart | ImagePart

export interface TextPart {
  kind: 'text'
  key: string
  text: string
  /** More may come. */
  open: boolean
  /** The text goes on in the next part: a long one is drawn in pieces. */
  cut: boolean
  /** What the other pieces define, such as `[1]: https://…`. */
  definitions: string
}

export interface ThinkingPart {
  kind: 'thinking'
  key: string
  text: string
  open: boolean
  durationMs: number | null
  /** When it began, for a running clock; null if that is unknown. */
  startedAt: Millis | null
  /** The supplier keeps the words to itself. */
  redacted: boolean
}

export interface ToolPart {
  kind: 'tool'
  key: string
  tool: ToolView
}

export interface ImagePart {
  kind: 'image'
  key: string
  image: ImageView
}

/** How a call stands, or how it ended; `view/stands` decides which. */
export type ToolStatus =
  /** The model is writing the arguments, or the call waits for its turn. */
  | 'pending'
  | 'running'
  | 'waitingApproval'
  | 'waitingAnswer'
  /** It was running when the connection was lost. */
  | 'unknown'
  | 'done'
  | 'error'
  | 'timedOut'
  /** By a policy. */
  | 'blocked'
  | 'denied'
  /** It waited for approval and never ran. */
  | 'undecided'
  /** Without an answer in time. */
  | 'expired'
  | 'dismissed'
  /** By the user, while it ran. */
  | 'stopped'
  | 'notStarted'
  /** By the end of the server, while it ran. */
  | 'interrupted'

export type ToolRoute = 'main' | 'worker-local' | 'main-process-proxy' | 'disabled'

export interface ToolView {
  /** The tool call's id: the only key by which anything about it is looked up. */
  id: string
  name: string
  /** For people; the name if there is none. */
  label: string
  status: ToolStatus
  /** The whole arguments once they are known, else undefined. */
  args: unknown
  /** The arguments as the model writes them; empty once `args` is known. */
  argsText: string
  /** One line that says what the call is about, such as a path or a command. */
  headline: string
  /** Output while it runs. */
  output: string
  /** How far it is, where it tells its steps. */
  process: ProcessView | null
  result: ToolResultView | null
  /** For people only: what the tool tells beside its result. */
  details: unknown
  /** A unified diff, where the tool made one. */
  diff: DiffView | null
  /** What the user said to the question that the call was; null if it was none, or has no answer. */
  answers: readonly string[] | null
  startedAt: Millis | null
  durationMs: number | null
  route: ToolRoute | null
  blockedReason: string | null
  policySources: readonly string[]
  /** The standing approvals by which it ran without a question. */
  allowedBy: readonly ApprovalUse[]
}

/** The steps of a call, the same while it runs and afterwards. */
export interface ProcessView {
  latest: StepView
  /** Equal steps in a row are one; of many steps those in the middle are left out. */
  rows: readonly (StepView | StepGap)[]
  /** How many there were. */
  count: number
  /** Those that came too fast to be taken in. */
  dropped: number
  log: ProcessLog | null
}

/** Where all steps can be asked for. */
export interface ProcessLog {
  sessionId: string
  operationId: string
}

export type StepLevel = 'debug' | 'info' | 'warning' | 'error'

export interface StepView {
  kind: 'step'
  key: string
  stage: string | null
  state: 'going' | 'completed' | 'failed' | 'cancelled' | 'skipped'
  level: StepLevel
  message: string
  /** The message in the languages of the app, if the server wrote it. */
  words?: LocalizedText
  detail: string | null
  current: number | null
  total: number | null
  /** 0 to 100; null if unknown, and then there is no bar. */
  percent: number | null
  /** How many equal steps this stands for. */
  count: number
  /** When the first of them happened. */
  at: Millis | null
  /** Until the next step, or between the first and the last of its own if none follows. */
  durationMs: number | null
}

export interface StepGap {
  kind: 'gap'
  key: string
  count: number
}

export interface ToolResultView {
  text: string
  images: readonly ImageView[]
}

export interface DiffView {
  path: string | null
  lines: readonly DiffLine[]
  added: number
  removed: number
}

export interface DiffLine {
  kind: 'added' | 'removed' | 'same' | 'gap'
  oldNumber: number | null
  newNumber: number | null
  text: string
}

/** What a search has found. */
export interface MatchesView {
  files: readonly MatchFile[]
  /** What the tool says below its lines. */
  notes: readonly string[]
}

export interface MatchFile {
  path: string
  /** Without a number where lines are left out. */
  lines: { number: number | null; isMatch: boolean; text: string }[]
}

export interface ImageView {
  key: string
  /** Something an `<img>` can show: a `data:`, `blob:` or same-origin address. */
  src: string
  alt: string
}

export interface FileView {
  key: string
  name: string
  mimeType: string
  bytes: number | null
  /** Where it can be downloaded; null while it is on its way. */
  href: string | null
  /** The model gets nothing but its name. */
  fileOnly: boolean
}

export interface UsageView {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  totalTokens: number
  cost: number | null
}
