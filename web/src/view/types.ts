/**
 * What the page draws. Every type here is plain data made by the projections beside this file;
 * components take these objects and never look at protocol data, stores or the clock.
 *
 * Objects are never changed in place: a row that is the same object has not changed.
 */

/** Unix time in milliseconds, as everywhere. */
export type Millis = number

// The transcript

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
  /** Why it failed or ended early, in the user's language as far as the server knows it. */
  errorMessage: string | null
  /** Whether that says what to do about it. */
  advised: boolean
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
  /** Who asked for it; null if nobody knows. */
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
  /** Something went wrong; else there was just nothing to do, or somebody stopped it. */
  isFault: boolean
  canRetry: boolean
  canDismiss: boolean
  /** When it is tried again by itself. */
  retryAt: Millis | null
  /** The entry from which one goes on as if it had not been. */
  undoTo: string | null
  about: CompactionAbout | null
}

export type CompactionStage = { stage: 'planning' | 'shortening' | 'checking' | 'saving' } | { stage: 'summarizing'; part: number; parts: number }

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

/** A small line between messages: the model or the thinking level was changed. */
export interface NoticeRow extends RowBase {
  kind: 'notice'
  notice:
    | { type: 'model'; provider: string; model: string }
    | { type: 'thinking'; level: string }
    | { type: 'older'; loading: boolean }
    | { type: 'interrupted' }
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
}

// The parts of an answer

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
  /** When it began, for a running clock; null if nobody saw it begin. */
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

export type ToolStatus =
  /** The model is writing the arguments, or the call waits for its turn. */
  | 'pending'
  | 'running'
  | 'done'
  | 'error'
  | 'blocked'
  | 'cancelled'

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
  startedAt: Millis | null
  durationMs: number | null
  route: ToolRoute | null
  blockedReason: string | null
  policySources: readonly string[]
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
  detail: string | null
  current: number | null
  total: number | null
  /** 0 to 100; null if nobody knows, and then there is no bar. */
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
}

export interface UsageView {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  totalTokens: number
  cost: number | null
}

// Around the transcript

export interface RunView {
  state: 'running' | 'stopping' | 'idle'
  phase:
    | 'preparing'
    | 'waiting_for_model'
    | 'streaming'
    | 'running_tools'
    | 'waiting_for_user'
    | 'retrying'
    | 'compacting'
    | null
  /** When this phase began. */
  since: Millis
  /** When the run began; null when idle. */
  startedAt: Millis | null
  /** The last sign of life of this run. */
  lastActivity: Millis
  /** In words, where a phase needs them. */
  detail: string | null
}

export interface QueueView {
  rows: readonly QueueRow[]
  /** Set by a stop: nothing runs until the user lets it. */
  held: boolean
}

export interface QueueRow {
  /** The server's id, or the request's while it is on its way. */
  key: string
  itemId: string | null
  text: string
  attachmentNames: readonly string[]
  mode: 'auto' | 'queue' | 'steer'
  queuedAt: Millis | null
  pending: boolean
}

export interface TodoView {
  items: readonly TodoItemView[]
  done: number
  /** Without cancelled ones. */
  total: number
  active: TodoItemView | null
  /** Items that are not shown because the list is too long. */
  hidden: number
}

export interface TodoItemView {
  id: string
  text: string
  status: 'pending' | 'in_progress' | 'done' | 'cancelled'
  /** Its status was changed without any tool having worked for it. */
  unverified: boolean
}

export interface QuestionView {
  /** The question's request id: answers are addressed by it. */
  id: string
  toolCallId: string
  question: string
  options: readonly string[]
  multi: boolean
  expiresAt: Millis | null
  state:
    | 'open'
    /** This tab has sent an answer and waits for the acknowledgement. */
    | 'answering'
    | 'answered'
    | 'expired'
    /** Its run is gone: to be read, and answered by a new message. */
    | 'readonly'
  /** What was answered, if anything. */
  answer: string | null
  problem: string | null
}

/** A call that waits for somebody to agree. */
export interface ApprovalView {
  id: string
  toolCallId: string
  toolName: string
  label: { readonly zh: string; readonly en: string }
  risk: string
  /** What would happen, in the form that says most; null if only the arguments say it. */
  what: { kind: 'command'; text: string } | { kind: 'change'; diff: DiffView } | null
  /** The arguments that `what` does not show, as JSON; empty if it shows them all. */
  args: string
  askedAt: Millis
  /** This tab has sent an answer and waits for the acknowledgement. */
  isAnswering: boolean
  problem: string | null
}

export type ApprovalChoice = 'once' | 'session' | 'deny'

export interface TokenView {
  used: number
  max: number
  /** 0 to 100, or more. */
  percent: number
  estimated: boolean
  /** Percent at which the context is compacted; null if never. */
  threshold: number | null
  level: 'calm' | 'near' | 'over'
  windowSource: 'channel' | 'catalogue' | 'guess' | null
  session: SpentView
  /** Of the active path. */
  branch: SpentView
  lastAnswer: SpentView | null
  /** Summaries, which are part of none of the above; null if there are none. */
  summaries: SpentView | null
}

/** What was paid for. */
export interface SpentView {
  inputTokens: number
  outputTokens: number
  totalTokens: number
  calls: number
  cost: number | null
}

/** What fills the context, in a fixed order. */
export type BreakdownView = readonly {
  part: 'system' | 'tools' | 'skills' | 'summary' | 'messages' | 'tool_results' | 'reserve' | 'free'
  tokens: number
  /** Of all of it. */
  percent: number
}[]

export interface ConnectionView {
  state: 'connected' | 'connecting' | 'waiting' | 'offline' | 'refused'
  /** When the next try is made, while waiting. */
  retryAt: Millis | null
  attempt: number
  /** Messages that wait to be sent. */
  unsent: number
}

// The composer

export interface ComposerAttachment {
  key: string
  name: string
  mimeType: string
  bytes: number
  /** For images. */
  preview: string | null
  state: 'reading' | 'uploading' | 'ready' | 'failed'
  /** 0 to 1 while uploading. */
  progress: number
  problem: string | null
}

export interface CommandView {
  /** With the slash. */
  name: string
  /** What may follow it, such as `[instructions]`. */
  hint: string
  description: string
}

export interface ChoiceView {
  id: string
  label: string
  /** A second, quieter line. */
  hint: string
  /** Choices of one group stand together; empty for none. */
  group: string
  disabled: boolean
}

// The tree panel

export type TreeFilter = 'all' | 'noTools' | 'userOnly' | 'labelled'

export type TreeRow = TreeEntryRow | TreeFoldRow

interface TreeRowBase {
  key: string
  /** Levels of forks above it, not of parents: a linear run stays at one level. */
  depth: number
  onPath: boolean
  /** Which of its siblings it is, where there is more than one. */
  branch: BranchPoint | null
  /** For each level to the left of it, whether a line runs through. */
  rails: readonly boolean[]
}

export interface TreeEntryRow extends TreeRowBase {
  kind: 'entry'
  entryId: string
  role: 'user' | 'assistant' | 'tool' | 'compaction' | 'branchSummary' | 'notice' | 'custom'
  text: string
  label: string | null
  at: Millis | null
  isLeaf: boolean
  /** More than one child is shown. */
  forks: boolean
  /** The search found it. */
  hit: boolean
  /** Nothing of it is loaded but its place. */
  unknown: boolean
}

/** A linear run that is folded away. */
export interface TreeFoldRow extends TreeRowBase {
  kind: 'fold'
  /** The folded entries, in order. */
  entryIds: readonly string[]
  count: number
}

// Lists

export interface SessionRow {
  id: string
  title: string
  /** The beginning of the last or first message. */
  preview: string
  agentName: string
  updatedAt: Millis
  running: boolean
  /** Waits for an answer of the user. */
  asking: boolean
  unread: boolean
  archived: boolean
  current: boolean
}

export type Verbosity = 'answer' | 'summary' | 'everything'
