import type { PartDelta, ServerEvent, ThinkingDone, ToolOutput, ToolProcessEvent } from '@/protocol'
import { withStep } from './process'
import type { PartState, SessionState, StreamingState, ToolState } from './state'
import { NO_TEXT, append } from './text'
import { wanting } from './wants'

export function reduceDelta(state: SessionState, event: ServerEvent): SessionState {
  switch (event.type) {
    case 'assistant_stream_delta':
    case 'thinking_delta':
      return partText(state, event.data, event.ts)
    case 'thinking_done':
      return thinkingDone(state, event.data, event.ts)
    case 'tool_result_streamed':
      return toolOutput(state, event.data, event.ts)
    case 'tool_process_event':
      return toolStep(state, event.data, event.ts)
    default:
      return state
  }
}

function partText(state: SessionState, delta: PartDelta, at: number): SessionState {
  const { streaming } = state
  if (streaming?.entryId !== delta.entryId) {
    // Text of a stored answer is late and dropped; text of an unknown answer means that an event is missing.
    return state.entries.has(delta.entryId) ? state : wanting(state, 'replay')
  }
  const known = streaming.parts.find((part) => part.part === delta.part)
  const text = append(known?.text ?? NO_TEXT, delta.offset, delta.text)
  if (text === null) return wanting(state, 'replay')
  if (known && text === known.text) return state
  const part: PartState = known
    ? { ...known, text }
    : {
        part: delta.part,
        kind: delta.kind,
        text,
        toolCallId: delta.toolCallId ?? null,
        toolName: delta.toolName ?? null,
        done: false,
        startedAt: at,
        durationMs: null,
      }
  return { ...state, streaming: withPart(streaming, part), lastActivity: Math.max(state.lastActivity, at) }
}

function thinkingDone(state: SessionState, done: ThinkingDone, at: number): SessionState {
  const { streaming } = state
  const part = streaming?.entryId === done.entryId && streaming.parts.find((part) => part.part === done.part)
  // An answer that is stored tells it itself.
  if (!streaming || !part || part.durationMs === done.durationMs) return state
  const ended: PartState = { ...part, done: true, durationMs: done.durationMs }
  return { ...state, streaming: withPart(streaming, ended), lastActivity: Math.max(state.lastActivity, at) }
}

function toolOutput(state: SessionState, delta: ToolOutput, at: number): SessionState {
  const known = state.tools.get(delta.toolCallId)
  if (known?.result) return state
  const tool = known ?? unknownTool(delta.toolCallId, delta.runId)
  const output = append(tool.output, delta.offset, delta.text)
  // The server shows no more than it keeps, and says so; there is no gap that a snapshot would not close.
  if (output === null) return wanting(state, 'replay')
  if (known && output === known.output) return state
  const tools = new Map(state.tools).set(delta.toolCallId, { ...tool, output })
  return { ...state, tools, lastActivity: Math.max(state.lastActivity, at) }
}

/** A step of a call. Calls are announced by reliable events, so an unknown call has ended or belongs to another path. */
function toolStep(state: SessionState, told: ToolProcessEvent, at: number): SessionState {
  const tool = state.tools.get(told.toolCallId)
  if (!tool || tool.result) return state
  const { runId, toolCallId, assistantEntryId, toolName, toolLabel, ...event } = told
  const process = withStep(tool.process, event, {
    kind: 'runtime_process_log',
    sessionId: state.sessionId,
    operationId: event.operationId,
    toolCallId,
  })
  if (process === tool.process) return state
  const tools = new Map(state.tools).set(toolCallId, { ...tool, process })
  return { ...state, tools, lastActivity: Math.max(state.lastActivity, at) }
}

/** A call of which only its id is known: it is shown all the same. */
export function unknownTool(toolCallId: string, runId: string): ToolState {
  return {
    toolCallId,
    entryId: '',
    runId,
    name: '',
    label: '',
    args: undefined,
    route: null,
    blockedReason: null,
    policySources: [],
    allowedBy: [],
    startedAt: null,
    output: NO_TEXT,
    process: null,
    result: null,
  }
}

export function partKey(entryId: string, part: number): string {
  return `${entryId}/${part}`
}

/** Replaces the part or puts it where its number belongs. */
function withPart(streaming: StreamingState, part: PartState): StreamingState {
  const at = streaming.parts.findIndex((other) => other.part >= part.part)
  const parts = [...streaming.parts]
  if (at < 0) parts.push(part)
  else parts.splice(at, parts[at]!.part === part.part ? 1 : 0, part)
  return { ...streaming, parts }
}
