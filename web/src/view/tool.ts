import type { ApprovalUse, ContentBlock, Entry, ToolExecution } from '@/protocol'
import { wholeText, type PartState, type ToolState } from '@/session'
import { imagesOf, oneLine, plain, textOf, type ImageAddress } from './content'
import { diffOf } from './diff'
import { usesIn } from './standing'
import { processIn, processView } from './process'
import { callStands, type CallFacts } from './stands'
import type { ToolResultView, ToolView } from './types'

/** A call as an answer holds it. */
export type ToolCallBlock = Extract<ContentBlock, { type: 'toolCall' }>

/** The entry that holds the result of a call. */
export type ToolResultEntry = Extract<Entry, { type: 'message' }> & {
  message: { role: 'toolResult' }
}

interface ToolContext extends Pick<CallFacts, 'running' | 'connected' | 'waitsFor'> {
  address: ImageAddress
}

/**
 * A call of a stored answer: the answer itself says how it stands (`execution`), its result what came of it, and the
 * live state what happens until then.
 */
export function toolOfCall(
  call: ToolCallBlock,
  result: ToolResultEntry | null,
  live: ToolState | null,
  execution: ToolExecution | null,
  context: ToolContext,
): ToolView {
  const ended = result
    ? storedEnd(result, context.address)
    : live?.result
      ? liveEnd(live.result, context.address)
      : null
  const settled = execution?.status === 'pending' ? null : (execution?.status ?? null)
  const isQuestion = call.name === 'clarify'
  return {
    id: call.id,
    name: call.name,
    label: live?.label || execution?.label || call.name,
    status: callStands({
      ended: settled ?? live?.result?.status ?? null,
      failed: ended && ended.isError,
      begun: live !== null,
      ...context,
    }),
    args: call.arguments,
    argsText: '',
    headline: headline(call.arguments),
    output: ended || !live ? '' : wholeText(live.output),
    process: processIn(ended?.details) ?? (live?.process ? processView(live.process) : null),
    result: ended?.result ?? null,
    details: ended?.details,
    diff: ended ? diffOf(ended.details, call.arguments) : null,
    answers: isQuestion ? answersIn(ended?.details) : null,
    startedAt: live?.startedAt ?? null,
    // The time of a question is its user's.
    durationMs: isQuestion ? null : (execution?.durationMs ?? ended?.durationMs ?? null),
    route: live?.route ?? execution?.runtimeRoute ?? null,
    blockedReason: live?.blockedReason ?? execution?.blockedReason ?? null,
    policySources: live?.policySources ?? execution?.policySources ?? NO_SOURCES,
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
  return toolOfCall(call, null, live, null, context)
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

interface End {
  isError: boolean
  result: ToolResultView
  details: unknown
  durationMs: number | null
}

function storedEnd(entry: ToolResultEntry, address: ImageAddress): End {
  const { content, details, isError } = entry.message
  const result = { text: textOf(content), images: imagesOf(entry.id, content, address) }
  return { isError, result, details: details ?? undefined, durationMs: null }
}

function liveEnd(live: NonNullable<ToolState['result']>, address: ImageAddress): End {
  const { resultEntryId, content, details, isError, durationMs } = live
  const result = { text: textOf(content), images: imagesOf(resultEntryId, content, address) }
  return { isError, result, details, durationMs }
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
