/** What stands around the transcript: the run, its queue, questions, tokens, the connection. */

import type { ScopeChoice } from '../standing'
import type { DiffView } from './answer'
import type { Millis } from './time'

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
  /** For how long it had waited for people and retries before this phase. */
  waitedMs: number
  /** The last sign of life of this run. */
  lastActivity: Millis
  /** The model could not be asked, and is asked again. */
  retry: RetryView | null
}

export interface RetryView {
  /** What happened, in one sentence. */
  words: string
  /** When the request is repeated; null if a fallback is asked instead. */
  at: Millis | null
  fallback: string | null
  /** The supplier's own words. */
  said: string | null
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
  /** Another version of NetaClaw queued it: it can be moved and removed, and nothing else. */
  unsupported?: boolean
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
    /** It was answered, here or elsewhere; its call has no result yet. */
    | 'answered'
    | 'expired'
    /** Its run is gone: to be read, and answered by a new message. */
    | 'readonly'
  /** What was answered, or what this tab is about to. */
  answer: string | null
  problem: string | null
}

/** A call that waits for approval. */
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
  /** What the session has read from outside; null if nothing. */
  foreign: {
    sources: readonly { kind: 'web' | 'mcp' | 'file' | 'program' | 'other'; name: string }[]
    destination: string | null
  } | null
  /** What can be allowed beyond this call, the most useful first. */
  choices: readonly ScopeChoice[]
  askedAt: Millis
  /** This tab has sent an answer and waits for the acknowledgement. */
  isAnswering: boolean
  problem: string | null
}

export type ApprovalChoice = 'once' | 'session' | 'deny' | 'grant'

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
  session: TokenTotalsView
  /** Of the active path. */
  branch: TokenTotalsView
  lastAnswer: TokenTotalsView | null
  /** Summaries, which are part of none of the above; null if there are none. */
  summaries: TokenTotalsView | null
}

/** What was paid for. */
export interface TokenTotalsView {
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
