import type {
  ApprovalUsed,
  ContentBlock,
  Done,
  Entry,
  EntryAdded,
  ModelRef,
  ReliableEvent,
  RunError,
  RunStatus,
  ServerEvent,
  StreamStart,
  ToolCallCompleted,
  ToolCallStarted,
  LocalizedErrorKind,
} from '@/protocol'
import { unknownTool } from './deltas'
import { wanting } from './wants'
import { answersWish } from './compaction'
import { labelTexts } from './labels'
import { queueAfter } from './queue'
import type { SessionState, ToolState } from './state'
import { pathAfter, withEntry } from './tree'

/** The snapshot tells of these as well. */
const STANDING: ReadonlySet<LocalizedErrorKind> = new Set([
  'no_tool_support',
  'unknown_tools',
  'no_sandbox',
  'unreadable_messages',
  'compaction_paused',
  'newer_version',
])

type Reliable = Extract<ServerEvent, { type: ReliableEvent['type'] }>

/** Applies an event whose number is the next one. */
export function reduceReliable(state: SessionState, event: ServerEvent): SessionState {
  if (!isReliable(event)) return state
  switch (event.type) {
    case 'session_entry_added':
      return entryAdded(state, event.data)
    case 'session_entry_updated':
      return entryUpdated(state, event.data)
    case 'session_leaf_changed':
      return {
        ...state,
        path: event.data.activePath,
        errors: [],
        compaction: stillTold(state),
        ...settingsOn(state, event.data.activePath),
      }
    case 'session_updated':
      return {
        ...state,
        meta: event.data.session,
        labels: event.data.labels ? labelTexts(event.data.labels) : state.labels,
      }
    case 'assistant_stream_start':
      return streamStarted(state, event.data, event.ts)
    case 'assistant_stream_end':
      return state.streaming?.entryId === event.data.entryId ? { ...state, streaming: null } : state
    case 'tool_call_started':
      return toolStarted(state, event.data, event.ts)
    case 'tool_call_completed':
      return toolCompleted(state, event.data)
    case 'run_status':
      return runStatus(state, event.data)
    case 'queue_update':
      return { ...state, queue: queueAfter(state.queue, event.data) }
    case 'todo_update':
      // Another branch has a list of its own, which may be older. Order is the events' matter.
      return { ...state, todo: event.data }
    case 'token_update':
      return { ...state, tokens: event.data }
    case 'clarify_request':
      return { ...state, questions: [...without(state.questions, event.data.toolCallId), event.data] }
    case 'clarify_answered':
      return {
        ...goesOn(state, event.data.toolCallId, event.ts),
        questions: state.questions.map((asked) =>
          asked.requestId === event.data.requestId ? { ...asked, closed: event.data } : asked,
        ),
      }
    case 'approval_request':
      return { ...state, approvals: [...without(state.approvals, event.data.toolCallId), event.data] }
    case 'approval_decided':
      return {
        ...goesOn(state, event.data.toolCallId, event.ts),
        approvals: state.approvals.filter((asked) => asked.approvalId !== event.data.approvalId),
      }
    case 'approval_used':
      return approvalUsed(state, event.data)
    case 'standing_approvals':
      return { ...state, standingApprovals: event.data.items }
    case 'tools_changed':
      // The entry that tells the model shows it here as well; pages that list tools ask anew.
      return state
    case 'compaction_start':
      return {
        ...state,
        compaction: { state: 'running', at: event.ts, start: event.data, progress: { stage: 'planning' } },
      }
    case 'compaction_progress':
      return state.compaction?.state === 'running'
        ? { ...state, compaction: { ...state.compaction, progress: event.data } }
        : state
    case 'compaction_done':
      return { ...state, compaction: { state: 'done', at: event.ts, done: event.data } }
    case 'compaction_error':
      return { ...state, compaction: { state: 'error', at: event.ts, error: event.data } }
    case 'compaction_dismissed':
      return state.compaction?.state === 'error' ? { ...state, compaction: null } : state
    case 'done':
      return runDone(state, event.data)
    case 'error':
      return wentWrong(state, event.data, event.ts)
    case 'session_resync':
      return wanting(state, 'snapshot')
  }
}

function isReliable(event: ServerEvent): event is Reliable {
  return typeof event.seq === 'number'
}

function entryAdded(state: SessionState, { entry, leafEntryId }: EntryAdded): SessionState {
  // Labels and names hang from the leaf and are no part of the conversation.
  const isAside = entry.type === 'label' || entry.type === 'session_info'
  const tree = isAside ? state.tree : withEntry(state.tree, entry)
  const path = pathAfter(tree, state.path, leafEntryId)
  const next: SessionState = {
    ...state,
    tree,
    path,
    entries: state.entries.with(entry.id, entry),
    streaming: state.streaming?.entryId === entry.id ? null : state.streaming,
  }
  // An entry below another one than the leaf moves to its branch.
  const moves = path.length > 1 && path.at(-2) !== state.path.at(-1) && path.at(-1) !== state.path.at(-1)
  return withMeaning(moves ? { ...next, ...settingsOn(next, path) } : next, entry)
}

/** A warning about how the session is set up stays; what has happened goes with the next message. */
function wentWrong(state: SessionState, error: RunError, at: number): SessionState {
  const { trouble } = error
  if (!trouble || !STANDING.has(trouble.kind)) return { ...state, errors: [...state.errors, { ...error, at }] }
  return { ...state, warnings: [...state.warnings.filter((known) => known.kind !== trouble.kind), trouble] }
}

/** What an entry says about the session as a whole. */
function withMeaning(state: SessionState, entry: Entry): SessionState {
  switch (entry.type) {
    case 'thinking_level_change':
      return { ...state, thinkingLevel: entry.thinkingLevel }
    case 'model_change':
      return { ...state, model: modelOf(entry) }
    case 'message':
      if (entry.message.role === 'user') return { ...state, errors: [], compaction: stillTold(state) }
      if (entry.message.role === 'toolResult') return answered(state, entry.message.toolCallId)
      return { ...state, model: modelOf(entry) ?? state.model }
    default:
      return state
  }
}

/** The outcome of a compaction is removed by the next message; a failure stays until it is dismissed or the next one succeeds. */
function stillTold({ compaction }: SessionState): SessionState['compaction'] {
  if (compaction?.state === 'error') return answersWish(compaction.error) ? null : compaction
  return compaction?.state === 'running' ? compaction : null
}

function entryUpdated(state: SessionState, { entry }: EntryAdded): SessionState {
  return { ...state, entries: state.entries.with(entry.id, entry) }
}

/** Model and thinking level as the entries of a path say, as far as they are loaded. */
function settingsOn(state: SessionState, path: readonly string[]): Partial<SessionState> {
  const found: { thinkingLevel?: string; model?: SessionState['model'] } = {}
  for (let at = path.length - 1; at >= 0 && !(found.thinkingLevel && found.model); at--) {
    const entry = state.entries.get(path[at]!)
    if (entry?.type === 'thinking_level_change') found.thinkingLevel ??= entry.thinkingLevel
    const model = entry && modelOf(entry)
    if (model) found.model ??= model
  }
  return found
}

/** The model that an entry chooses or was answered by. */
function modelOf(entry: Entry): ModelRef | null {
  if (entry.type === 'model_change') return { provider: entry.provider, modelId: entry.modelId }
  if (entry.type !== 'message' || entry.message.role !== 'assistant') return null
  return named({ provider: entry.message.provider, modelId: entry.message.model })
}

/** An answer that failed before a model was asked names none. */
function named(model: ModelRef): ModelRef | null {
  return model.modelId === '' ? null : model
}

function streamStarted(state: SessionState, start: StreamStart, at: number): SessionState {
  if (state.streaming?.entryId === start.entryId) return state
  const { runId, entryId, parentId, provider, model } = start
  return {
    ...state,
    model: named({ provider, modelId: model }) ?? state.model,
    streaming: { runId, entryId, parentId, provider, model, startedAt: at, parts: [] },
  }
}

function toolStarted(state: SessionState, call: ToolCallStarted, at: number): SessionState {
  const known = state.tools.get(call.toolCallId)
  const tool: ToolState = {
    ...(known ?? unknownTool(call.toolCallId, call.runId)),
    entryId: call.entryId,
    runId: call.runId,
    name: call.toolName,
    label: call.toolLabel,
    args: call.args,
    route: call.route,
    blockedReason: call.blockedReason ?? null,
    policySources: call.policySources,
    allowedBy: call.allowedBy ?? [],
    startedAt: at,
  }
  return { ...state, tools: new Map(state.tools).set(call.toolCallId, tool) }
}

function approvalUsed(state: SessionState, used: ApprovalUsed): SessionState {
  const tool = state.tools.get(used.toolCallId)
  if (!tool) return state
  return { ...state, tools: new Map(state.tools).set(used.toolCallId, { ...tool, allowedBy: used.allowedBy }) }
}

/** A call works from now on: the time before was its user's. */
function goesOn(state: SessionState, toolCallId: string, at: number): SessionState {
  const tool = state.tools.get(toolCallId)
  if (!tool) return state
  return { ...state, tools: new Map(state.tools).set(toolCallId, { ...tool, startedAt: at }) }
}

function toolCompleted(state: SessionState, done: ToolCallCompleted): SessionState {
  const known = state.tools.get(done.toolCallId) ?? unknownTool(done.toolCallId, done.runId)
  const tool: ToolState = {
    ...known,
    name: known.name || done.toolName,
    result: {
      status: done.status,
      isError: done.isError,
      content: blocks(done.content),
      details: done.details ?? undefined,
      durationMs: done.durationMs,
      resultEntryId: done.resultEntryId,
    },
  }
  return answered({ ...state, tools: new Map(state.tools).set(done.toolCallId, tool) }, done.toolCallId)
}

/** A call with a result has no open question. */
function answered(state: SessionState, toolCallId: string): SessionState {
  const questions = without(state.questions, toolCallId)
  const approvals = without(state.approvals, toolCallId)
  if (questions.length === state.questions.length && approvals.length === state.approvals.length) return state
  return { ...state, questions, approvals }
}

function runStatus(state: SessionState, run: RunStatus): SessionState {
  if (run.status === 'idle') return { ...state, run, streaming: null }
  const sameRun = state.run.status !== 'idle' && state.run.runId === run.runId
  return { ...state, run, done: sameRun ? state.done : null }
}

/** Nothing of a run that has ended stays open, whatever was missed of it. */
function runDone(state: SessionState, done: Done): SessionState {
  const others = <Item extends { runId: string }>(items: readonly Item[]) =>
    items.some((item) => item.runId === done.runId) ? items.filter((item) => item.runId !== done.runId) : items
  return {
    ...state,
    done,
    streaming: state.streaming?.runId === done.runId ? null : state.streaming,
    questions: others(state.questions),
    approvals: others(state.approvals),
    compaction: state.compaction?.state === 'running' ? null : state.compaction,
    // Entries tell of its calls by now.
    tools: new Map([...state.tools].filter(([, tool]) => tool.runId !== done.runId)),
  }
}

function without<Item extends { toolCallId: string }>(items: readonly Item[], toolCallId: string): readonly Item[] {
  return items.filter((item) => item.toolCallId !== toolCallId)
}

function blocks(content: unknown): readonly ContentBlock[] {
  return Array.isArray(content) ? (content as ContentBlock[]) : []
}
