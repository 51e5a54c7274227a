/** The active path and what is under way, as rows. */

import type { Entry } from '@/protocol'
import { partKey, wholeText, type PartState, type SessionState, type ToolState } from '@/session'
import { branchAt } from './branch'
import { foldedUntil, liveCompaction, storedCompaction } from './compaction'
import { agentSwitch, imagesOf, millisOf, textOf, userParts, type ImageAddress } from './content'
import { fold } from './fold'
import { growingParts, spread, textParts } from './pieces'
import { reuseUnchanged } from './structuralSharing'
import { cutBy } from './stands'
import { toolOfCall, toolOfPart, toolOfState, type ToolResultEntry } from './tool'
import { NO_REMEDIES, remediesFor, troubleWords, type Means, type TroubleLanguage } from './trouble'
import type {
  AnswerPart,
  AssistantRow,
  BranchPoint,
  PendingUserRow,
  TranscriptRow,
  UsageView,
  Verbosity,
} from './types'

export interface TranscriptOptions {
  verbosity: Verbosity
  /** Messages on their way, which no entry tells of yet. */
  pending: readonly PendingUserRow[]
  /** Also what the model reads only as a summary. */
  showsFolded: boolean
  /** Older entries are being fetched. */
  loadingOlder: boolean
  address: ImageAddress
  language: TroubleLanguage
  /** What the reader can do about errors. */
  means?: Means
  /** What is under way is known to be. */
  connected: boolean
}

const NO_MEANS: Means = {}

/** Where loaded entries begin on the active path: everything from there on is known. */
export function loadedFrom(state: SessionState): number {
  let from = state.path.length
  while (from > 0 && state.entries.has(state.path[from - 1]!)) from--
  return from
}

export function transcript(state: SessionState, options: TranscriptOptions): readonly TranscriptRow[] {
  return transcriptProjector()(state, options)
}

/**
 * The same projection with a memory: turns that are over are not looked at again, and rows that
 * did not change stay the same objects.
 */
export function transcriptProjector(): (state: SessionState, options: TranscriptOptions) => readonly TranscriptRow[] {
  let settled: Settled | null = null
  let tail: readonly TranscriptRow[] = []
  return (state, options) => {
    if (!settled || !isCurrent(settled, state, options)) settled = settle(settled, state, options)
    const fresh = lastTurn(state, options, settled.entries)
    tail = shareRows(tail, fresh)
    return [...settled.rows, ...tail]
  }
}

/** Turns that are over, and what they were made from. */
interface Settled {
  state: SessionState
  options: TranscriptOptions
  /** Of the last turn. */
  entries: readonly Entry[]
  rows: readonly TranscriptRow[]
}

function isCurrent(settled: Settled, state: SessionState, options: TranscriptOptions): boolean {
  const { state: before, options: asked } = settled
  return (
    before.entries === state.entries &&
    before.path === state.path &&
    before.tree === state.tree &&
    before.labels === state.labels &&
    before.sessionId === state.sessionId &&
    asked.verbosity === options.verbosity &&
    asked.language === options.language &&
    asked.means === options.means &&
    asked.showsFolded === options.showsFolded &&
    asked.loadingOlder === options.loadingOlder
  )
}

function settle(before: Settled | null, state: SessionState, options: TranscriptOptions): Settled {
  const from = loadedFrom(state)
  const kept = foldedUntil(state)
  const loaded = (start: number, end?: number) =>
    turnsOf(state.path.slice(start, end).map((id) => state.entries.get(id)!))
  const over: TurnContext = { state, options, running: false }
  const rows: TranscriptRow[] = []
  const show = (turns: readonly Entry[][]) => {
    for (const turn of turns) rows.push(...spread(fold(rowsOfTurn(turn, over), options.verbosity, false)))
  }
  const isOpen = options.showsFolded
  if (from > (isOpen ? 0 : kept)) rows.push(olderRow(options.loadingOlder))
  if (isOpen && from < kept) show(loaded(from, kept))
  if (kept > 0 && from <= kept) rows.push(foldedRow(state.path[kept]!, kept, isOpen))
  const turns = loaded(Math.max(from, kept))
  const last = turns.pop() ?? []
  show(turns)
  return { state, options, entries: last, rows: shareRows(before?.rows ?? [], rows) }
}

/** A turn begins with a message of the user that does not stand in the midst of tool results. */
function turnsOf(entries: readonly Entry[]): Entry[][] {
  const turns: Entry[][] = []
  let inTools = false
  for (const entry of entries) {
    const role = roleOf(entry)
    if ((role === 'user' && !inTools) || turns.length === 0) turns.push([])
    turns.at(-1)!.push(entry)
    if (role === 'toolResult') inTools = true
    else if (role === 'assistant') inTools = false
  }
  return turns
}

interface TurnContext {
  state: SessionState
  options: TranscriptOptions
  running: boolean
}

function lastTurn(state: SessionState, options: TranscriptOptions, entries: readonly Entry[]): TranscriptRow[] {
  const running = state.run.status !== 'idle'
  const rows = rowsOfTurn(entries, { state, options, running })
  if (state.streaming) rows.push(streamingRow(state, options.connected))
  for (const tool of unplaced(state, rows)) rows.push(placeholder(tool, { state, options, running }))
  const folded = spread(fold(rows, options.verbosity, running))
  folded.push(...troubles(state, options, folded))
  if (state.compaction && state.compaction.state !== 'done')
    folded.push(
      liveCompaction(
        bare(`compaction:${state.compaction.at}`, null, state.compaction.at),
        state.compaction,
        options.language,
      ),
    )
  const arrived = new Set(entries.map(requestIdOf))
  return [...folded, ...options.pending.filter((row) => !arrived.has(row.requestId))]
}

/** What is wrong with the session, and what went wrong beside what answers tell. */
function troubles(state: SessionState, options: TranscriptOptions, shown: readonly TranscriptRow[]): TranscriptRow[] {
  const { language, means = NO_MEANS } = options
  const known = new Set(shown.map((row) => (row.kind === 'assistant' ? row.errorMessage : null)))
  const standing = state.warnings.map((warning, at): TranscriptRow => {
    return {
      ...bare(`warning:${warning.kind}:${at}`, null),
      kind: 'error',
      severity: 'warning',
      message: troubleWords(warning, language)!,
      code: null,
      advised: true,
      remedies: NO_REMEDIES,
      channel: null,
    }
  })
  const happened = state.errors.flatMap((error, at): TranscriptRow[] => {
    const { severity, code } = error
    const words = troubleWords(error.trouble, language)
    const message = words ?? error.message
    if (known.has(message)) return []
    return [
      {
        ...bare(`error:${error.at}:${at}`, null),
        kind: 'error',
        severity,
        message,
        code,
        advised: words !== null,
        remedies: severity === 'error' ? remediesFor(error.trouble?.kind, means) : NO_REMEDIES,
        channel: error.trouble?.channel ?? null,
        at: error.at,
      },
    ]
  })
  return [...standing, ...happened]
}

/** The request that a user's message came in by. */
export function requestIdOf(entry: Entry): string | null {
  if (entry.type !== 'message' || entry.message.role !== 'user') return null
  return entry.message.netaclaw?.requestId ?? null
}

function rowsOfTurn(entries: readonly Entry[], context: TurnContext): TranscriptRow[] {
  const results = resultsOf(entries)
  const rows: TranscriptRow[] = []
  // A fork at an entry that is not shown is shown at the next one that is.
  let fork: BranchPoint | null = null
  for (const [at, entry] of entries.entries()) {
    fork = branchAt(context.state.tree, entry.id) ?? fork
    const row = rowOf(entry, entries[at - 1], fork, results, context)
    if (!row) continue
    noteUnseen(rows, entry)
    rows.push(row)
    fork = null
  }
  return rows
}

/** Marks the messages before an answer whose images the answering model did not receive. */
function noteUnseen(rows: TranscriptRow[], entry: Entry): void {
  if (entry.type !== 'message' || entry.message.role !== 'assistant' || !entry.message.netaclaw?.unseenImages) return
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at]!
    if (row.kind === 'assistant') return
    if (row.kind === 'user' && row.images.length > 0) rows[at] = { ...row, unseenBy: entry.message.model }
  }
}

/** Results by the answer that asked for them and the call's id: ids may come again in later turns. */
function resultsOf(entries: readonly Entry[]): Map<string, ToolResultEntry> {
  const results = new Map<string, ToolResultEntry>()
  const askedBy = new Map<string, string>()
  for (const entry of entries) {
    if (entry.type !== 'message') continue
    if (entry.message.role === 'assistant') {
      for (const block of entry.message.content) if (block.type === 'toolCall') askedBy.set(block.id, entry.id)
    } else if (entry.message.role === 'toolResult') {
      const asker = askedBy.get(entry.message.toolCallId)
      if (asker) results.set(`${asker}/${entry.message.toolCallId}`, entry as ToolResultEntry)
    }
  }
  return results
}

function rowOf(
  entry: Entry,
  above: Entry | undefined,
  branch: BranchPoint | null,
  results: ReadonlyMap<string, ToolResultEntry>,
  context: TurnContext,
): TranscriptRow | null {
  const { state, options } = context
  const base = {
    key: entry.id,
    entryId: entry.id,
    branch,
    label: state.labels[entry.id] ?? null,
    at: millisOf(entry.timestamp),
  }
  switch (entry.type) {
    case 'message':
      break
    case 'compaction':
      return storedCompaction(base, entry)
    case 'branch_summary':
      return { ...base, kind: 'branchSummary', fromId: entry.fromId, summary: entry.summary }
    case 'model_change':
      return { ...base, kind: 'notice', notice: { type: 'model', provider: entry.provider, model: entry.modelId } }
    case 'thinking_level_change':
      return { ...base, kind: 'notice', notice: { type: 'thinking', level: entry.thinkingLevel } }
    case 'custom_message':
      if (!entry.display) return null
      return { ...base, kind: 'custom', type: entry.type, title: entry.customType, text: textOf(entry.content) }
    case 'custom': {
      const agent = agentSwitch(entry)
      return agent === null ? null : { ...base, kind: 'notice', notice: { type: 'agent', agent } }
    }
    case 'label':
    case 'session_info':
      return null
    default:
      return unknownRow(base, entry)
  }
  const { message } = entry
  switch (message.role) {
    case 'user':
      return {
        ...base,
        kind: 'user',
        ...userParts(entry.id, message.content, message.netaclaw, options.address),
        steered: above !== undefined && roleOf(above) === 'toolResult',
        unseenBy: null,
      }
    case 'assistant':
      return {
        ...base,
        kind: 'assistant',
        parts: partsOf(entry, message, results, context),
        streaming: false,
        continues: false,
        ends: false,
        cut: false,
        above: [],
        provider: message.provider,
        model: message.model,
        stopReason: message.stopReason,
        cutBy: cutBy(message.stopReason, message.trouble),
        errorMessage: troubleWords(message.trouble, options.language) ?? message.errorMessage ?? null,
        advised: message.trouble != null,
        remedies: remediesFor(
          message.stopReason === 'length' ? 'length' : message.trouble?.kind,
          options.means ?? NO_MEANS,
        ),
        channel: message.trouble?.channel ?? null,
        usage: usageOf(message.usage),
      }
    case 'toolResult':
      return null
    case 'bashExecution':
      return { ...base, kind: 'custom', type: message.role, title: message.command, text: message.output }
    case 'custom':
      if (!message.display) return null
      return { ...base, kind: 'custom', type: message.role, title: message.customType, text: textOf(message.content) }
    case 'system':
      return { ...base, kind: 'custom', type: message.role, title: message.role, text: textOf(message.content) }
    default:
      return unknownRow(base, entry)
  }
}

type AssistantMessage = Extract<Extract<Entry, { type: 'message' }>['message'], { role: 'assistant' }>
type AssistantBlock = AssistantMessage['content'][number]

function partsOf(
  entry: Entry,
  message: AssistantMessage,
  results: ReadonlyMap<string, ToolResultEntry>,
  context: TurnContext,
): AnswerPart[] {
  const thinkingMs = message.netaclaw?.thinkingMs ?? []
  let thoughts = 0
  return message.content.flatMap((block, part) => {
    const durationMs = block.type === 'thinking' ? (thinkingMs[thoughts++] ?? null) : null
    return partOf(entry, part, block, durationMs, results, context)
  })
}

function partOf(
  { id: entryId, metadata }: Entry,
  part: number,
  block: AssistantBlock,
  durationMs: number | null,
  results: ReadonlyMap<string, ToolResultEntry>,
  context: TurnContext,
): AnswerPart | readonly AnswerPart[] {
  const { state, options, running } = context
  const key = partKey(entryId, part)
  switch (block.type) {
    case 'text':
      return textParts(key, block.text)
    case 'thinking': {
      const redacted = block.redacted === true
      return { kind: 'thinking', key, text: block.thinking, open: false, durationMs, startedAt: null, redacted }
    }
    case 'toolCall': {
      const live = running ? (state.tools.get(block.id) ?? null) : null
      const result = results.get(`${entryId}/${block.id}`) ?? null
      const execution = metadata?.toolExecutions.find((execution) => execution.toolCallId === block.id) ?? null
      const own = live?.entryId === entryId ? live : null
      return { kind: 'tool', key, tool: toolOfCall(block, result, own, execution, callContext(block.id, context)) }
    }
    case 'image':
      return { kind: 'image', key, image: imagesOf(entryId, [block], options.address)[0]! }
  }
}

function callContext(toolCallId: string, { state, options, running }: TurnContext) {
  const asksFor = (item: { toolCallId: string }) => item.toolCallId === toolCallId
  const waitsFor: 'approval' | 'answer' | null = state.approvals.some(asksFor)
    ? 'approval'
    : state.questions.some((question) => !question.closed && asksFor(question))
      ? 'answer'
      : null
  return { running, connected: options.connected, waitsFor, address: options.address }
}

function streamingRow(state: SessionState, connected: boolean): AssistantRow {
  const answer = state.streaming!
  const parts = answer.parts.flatMap((part, at) =>
    openPart(answer.entryId, part, at === answer.parts.length - 1, connected),
  )
  return {
    ...bare(answer.entryId, answer.entryId),
    kind: 'assistant',
    parts,
    streaming: true,
    continues: false,
    ends: false,
    cut: false,
    above: [],
    provider: answer.provider,
    model: answer.model,
    stopReason: null,
    cutBy: null,
    errorMessage: null,
    advised: false,
    remedies: NO_REMEDIES,
    channel: null,
    usage: null,
    at: answer.startedAt,
  }
}

function openPart(
  entryId: string,
  part: PartState,
  isLast: boolean,
  connected: boolean,
): AnswerPart | readonly AnswerPart[] {
  const key = partKey(entryId, part.part)
  // Models write one part after the other.
  const open = isLast && !part.done
  switch (part.kind) {
    case 'text':
      return growingParts(key, part.text, open)
    case 'thinking': {
      const { durationMs } = part
      // A clock would count time about which nothing is known.
      const startedAt = connected ? part.startedAt : null
      return { kind: 'thinking', key, text: wholeText(part.text), open, durationMs, startedAt, redacted: false }
    }
    case 'toolCall':
      return { kind: 'tool', key, tool: toolOfPart(entryId, connected ? part : { ...part, startedAt: null }) }
  }
}

/** Calls that no row shows: only output of them has arrived. */
function unplaced(state: SessionState, rows: readonly TranscriptRow[]): ToolState[] {
  if (state.tools.size === 0) return []
  const placed = new Set<string>()
  for (const row of rows) {
    if (row.kind !== 'assistant') continue
    for (const part of row.parts) if (part.kind === 'tool') placed.add(part.tool.id)
  }
  return [...state.tools.values()].filter((tool) => !placed.has(tool.toolCallId))
}

function placeholder(tool: ToolState, context: TurnContext): TranscriptRow {
  return {
    ...bare(`tool:${tool.toolCallId}`, null),
    kind: 'tool',
    tool: toolOfState(tool, callContext(tool.toolCallId, context)),
    at: tool.startedAt,
  }
}

function foldedRow(entryId: string, count: number, isOpen: boolean): TranscriptRow {
  return { ...bare(`folded:${entryId}`, null), kind: 'folded', count, isOpen }
}

function olderRow(loading: boolean): TranscriptRow {
  return { ...bare('older', null), kind: 'notice', notice: { type: 'older', loading } }
}

function unknownRow(base: ReturnType<typeof bare>, entry: { type: string }): TranscriptRow {
  return { ...base, kind: 'custom', type: entry.type, title: entry.type, text: JSON.stringify(entry, null, 2) }
}

function bare(key: string, entryId: string | null, at: number | null = null) {
  return {
    key,
    entryId,
    branch: null as BranchPoint | null,
    label: null as string | null,
    at,
  }
}

function usageOf(usage: AssistantMessage['usage'] | undefined): UsageView | null {
  if (!usage || usage.totalTokens === 0) return null
  return {
    inputTokens: usage.input + usage.cacheRead + usage.cacheWrite,
    outputTokens: usage.output,
    cacheReadTokens: usage.cacheRead,
    totalTokens: usage.totalTokens,
    cost: usage.cost.total > 0 ? usage.cost.total : null,
  }
}

function roleOf(entry: Entry): string | null {
  return entry.type === 'message' ? entry.message.role : null
}

/** Foreign data of any size. */
const OPAQUE = new Set(['args', 'details', 'lines', 'process'])

function shareRows(before: readonly TranscriptRow[], after: readonly TranscriptRow[]): readonly TranscriptRow[] {
  if (before.length === 0) return after
  const known = new Map(before.map((row) => [row.key, row]))
  return after.map((row) => reuseUnchanged(known.get(row.key), row, OPAQUE))
}
