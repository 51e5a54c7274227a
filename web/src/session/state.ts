/**
 * One session as this client knows it: a snapshot and the events applied to it. Plain data that is
 * never changed in place; what did not change is the same object as before.
 */

import type {
  ApprovalQuestion,
  ApprovalUse,
  ClarifyAnswered,
  CompactionDone,
  CompactionError,
  CompactionProgress,
  CompactionStart,
  ContentBlock,
  Done,
  Entry,
  ModelRef,
  PartKind,
  Question,
  QueueState,
  RunError,
  RunStatus,
  SessionInfo,
  StandingApproval,
  TodoList,
  TokenUpdate,
  ToolExecutionStatus,
  ToolRoute,
  LocalizedError,
} from '@/protocol'
import type { PersistentMap } from './persistentMap'
import type { ProcessState } from './process'
import type { OpenText } from './text'
import type { TreeShape } from './tree'

export interface SessionState {
  readonly sessionId: string
  readonly epoch: string
  /** The number of the last reliable event that is part of this. */
  readonly seq: number
  /** What is needed to go on: the events since `seq`, or all of it again. */
  readonly wants: 'replay' | 'snapshot' | null
  readonly meta: SessionInfo
  readonly tree: TreeShape
  /** Those that are loaded: an end of the active path, and whatever was on it before. */
  readonly entries: PersistentMap<Entry>
  readonly path: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly thinkingLevel: string
  readonly model: ModelRef | null
  readonly run: RunStatus
  /** The server's time of the last sign of life. */
  readonly lastActivity: number
  readonly streaming: StreamingState | null
  /** Calls of the run under way, and of those before it since the snapshot, by call id. */
  readonly tools: ReadonlyMap<string, ToolState>
  readonly queue: QueueState
  readonly questions: readonly AskedQuestion[]
  readonly approvals: readonly ApprovalQuestion[]
  /** What runs in this session without a question. */
  readonly standingApprovals: readonly StandingApproval[]
  readonly todo: TodoList
  readonly tokens: TokenUpdate
  readonly compaction: CompactionState | null
  /** How the last run ended, if it ended while this was watched. */
  readonly done: Done | null
  /** What went wrong since the last message, beside what entries tell. */
  readonly errors: readonly (RunError & { at: number })[]
  readonly skippedLines: number
  readonly warnings: readonly LocalizedError[]
}

/** A question, and what came of it until the result of its call is there. */
export type AskedQuestion = Question & { readonly closed?: ClarifyAnswered }

export interface StreamingState {
  readonly runId: string
  readonly entryId: string
  readonly parentId: string | null
  readonly provider: string
  readonly model: string
  readonly startedAt: number | null
  readonly parts: readonly PartState[]
}

export interface PartState {
  readonly part: number
  readonly kind: PartKind
  readonly text: OpenText
  readonly toolCallId: string | null
  readonly toolName: string | null
  readonly done: boolean
  readonly startedAt: number | null
  readonly durationMs: number | null
}

export interface ToolState {
  readonly toolCallId: string
  /** The answer that asked for it; empty if only output of it was seen. */
  readonly entryId: string
  readonly runId: string
  readonly name: string
  readonly label: string
  readonly args: unknown
  readonly route: ToolRoute | null
  readonly blockedReason: string | null
  readonly policySources: readonly string[]
  /** The standing approvals that allow it. */
  readonly allowedBy: readonly ApprovalUse[]
  readonly startedAt: number | null
  readonly output: OpenText
  /** The steps it has taken; null if it tells none. */
  readonly process: ProcessState | null
  /** Set once it has ended; its entry follows. */
  readonly result: ToolEnd | null
}

export interface ToolEnd {
  readonly status: ToolExecutionStatus
  readonly isError: boolean
  readonly content: readonly ContentBlock[]
  readonly details: unknown
  readonly durationMs: number
  readonly resultEntryId: string
}

export type CompactionState =
  | {
      readonly state: 'running'
      readonly at: number
      readonly start: CompactionStart
      readonly progress: CompactionProgress
    }
  | { readonly state: 'done'; readonly at: number; readonly done: CompactionDone }
  | { readonly state: 'error'; readonly at: number; readonly error: CompactionError }
