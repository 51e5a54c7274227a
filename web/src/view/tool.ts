import type { ApprovalUse, ContentBlock, Entry } from '@/protocol'
import { wholeText, type PartState, type ToolState } from '@/session'
import { imagesOf, oneLine, plain, textOf, type ImageAddress } from './content'
import { diffOf } from './diff'
import { usesIn } from './standing'
import { processIn, processView } from './process'
import type { ToolResultView, ToolStatus, ToolView } from './types'

/** A call as an answer holds it. */
export type ToolCallBlock = Extract<ContentBlock, { type: 'toolCall' }>

/** The entry that holds the result of a call. */
export type ToolResultEntry = Extract<Entry, { type: 'message' }> & {
  message: { role: 'toolResult' }
}

interface ToolContext {
  /** Whether the run of this call may still be under way. */
  running: boolean
  address: ImageAddress
}

/** A call of a stored answer: its entry tells the result, the live state what happens until then. */
export function toolOfCall(
  call: ToolCallBlock,
  result: ToolResultEntry | null,
  live: ToolState | null,
  context: ToolContext,
): ToolView {
  const ended = result
    ? storedEnd(result, context.address)
    : live?.result
      ? liveEnd(live.result, context.address)
      : null
  return {
    id: call.id,
    name: call.name,
    label: live?.label || call.name,
    status: ended ? ended.status(live?.blockedReason ?? null) : openStatus(live, context.running),
    args: call.arguments,
    argsText: '',
    headline: headline(call.arguments),
    output: ended || !live ? '' : wholeText(live.output),
    process: processIn(ended?.details) ?? (live?.process ? processView(live.process) : null),
    result: ended?.result ?? null,
    details: ended?.details,
    diff: ended ? diffOf(ended.details, call.arguments) : null,
    answers: call.name === 'clarify' ? answersIn(ended?.details) : null,
    startedAt: live?.startedAt ?? null,
    durationMs: ended?.durationMs ?? null,
    route: live?.route ?? null,
    blockedReason: live?.blockedReason ?? ended?.blockedReason ?? null,
    policySources: live?.policySources ?? NO_SOURCES,
    allowedBy: usesIn(ended?.details) ?? live?.allowedBy ?? NO_USES,
  }
}

/** A call that the model is still writing. */
export function toolOfPart(entryId: string, part: PartState): ToolView {
  const name = part.toolName ?? ''
  return {
    ...blank,
    id: part.toolCallId ?? `${entryId}/${part.part}`,
    name,
    label: name,
    argsText: wholeText(part.text),
    startedAt: part.startedAt,
  }
}

/** A call that no answer is known for. */
export function toolOfState(live: ToolState, context: ToolContext): ToolView {
  const call: ToolCallBlock = {
    type: 'toolCall',
    id: live.toolCallId,
    name: live.name,
    arguments: (live.args ?? null) as ToolCallBlock['arguments'],
  }
  return toolOfCall(call, null, live, context)
}

const NO_SOURCES: readonly string[] = []
const NO_USES: readonly ApprovalUse[] = []

const blank: ToolView = {
  id: '',
  name: '',
  label: '',
  status: 'pending',
  args: undefined,
  argsText: '',
  headline: '',
  output: '',
  process: null,
  result: null,
  details: undefined,
  diff: null,
  answers: null,
  startedAt: null,
  durationMs: null,
  route: null,
  blockedReason: null,
  policySources: NO_SOURCES,
  allowedBy: NO_USES,
}

function openStatus(live: ToolState | null, running: boolean): ToolStatus {
  if (!running) return 'cancelled'
  return live ? 'running' : 'pending'
}

interface End {
  status: (blockedReason: string | null) => ToolStatus
  result: ToolResultView
  details: unknown
  durationMs: number | null
  blockedReason: string | null
}

function storedEnd(entry: ToolResultEntry, address: ImageAddress): End {
  const { content, details, isError } = entry.message
  return end(entry.id, content, details ?? undefined, isError, address)
}

function liveEnd(result: NonNullable<ToolState['result']>, address: ImageAddress): End {
  const { resultEntryId, content, details, isError, durationMs } = result
  const told = end(resultEntryId, content, details, isError, address)
  return { ...told, durationMs: told.durationMs ?? durationMs }
}

function end(
  entryId: string,
  content: readonly ContentBlock[],
  details: unknown,
  isError: boolean,
  address: ImageAddress,
): End {
  const told = (typeof details === 'object' && details !== null ? details : {}) as Record<string, unknown>
  const blockedReason = typeof told['blockedReason'] === 'string' ? told['blockedReason'] : null
  return {
    status: (blocked) => {
      if (blocked !== null || blockedReason !== null) return 'blocked'
      if (told['ending'] === 'cancelled') return 'cancelled'
      return isError ? 'error' : 'done'
    },
    result: { text: textOf(content), images: imagesOf(entryId, content, address) },
    details,
    durationMs: typeof told['durationMs'] === 'number' ? told['durationMs'] : null,
    blockedReason,
  }
}

/** What a question was answered with, as its result tells beside its words. */
function answersIn(details: unknown): readonly string[] | null {
  const { answers } = (details ?? {}) as { answers?: readonly string[] }
  return answers?.length ? answers : null
}

/** Arguments that say what a call is about, the most telling first. */
const TELLING = ['command', 'pattern', 'path', 'file_path', 'url', 'query', 'question', 'task', 'name']

function headline(args: unknown): string {
  if (typeof args !== 'object' || args === null) return ''
  const fields = Object.entries(args).filter(
    (field): field is [string, string] => typeof field[1] === 'string' && field[1] !== '',
  )
  const telling = TELLING.map((name) => fields.find((field) => field[0] === name)).find((field) => field !== undefined)
  const [name, text] = telling ?? fields[0] ?? ['', '']
  // Questions are the only ones that are drawn as Markdown where they are asked.
  return oneLine(name === 'question' ? plain(text) : text)
}
