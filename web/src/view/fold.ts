/** How much of a turn is shown: what an agent does on its way can be folded or left out. */

import { isOpen, isWell } from './stands'
import type { ActivityRow, AnswerPart, AssistantRow, TranscriptRow, Verbosity } from './types'

/** Folds the rows of one turn and says which of them continue and end it. */
export function fold(rows: readonly TranscriptRow[], verbosity: Verbosity, running: boolean): TranscriptRow[] {
  const shown = verbosity === 'everything' ? [...rows] : folded(rows, verbosity, running)
  return withPlaces(shown, running)
}

function folded(rows: readonly TranscriptRow[], verbosity: 'summary' | 'answer', running: boolean): TranscriptRow[] {
  const shown: TranscriptRow[] = []
  let batch: Piece[] = []
  const flush = (isOver: boolean) => {
    if (verbosity === 'summary') shown.push(...activity(batch, isOver))
    batch = []
  }
  for (const row of rows) {
    if (row.kind !== 'assistant') {
      flush(true)
      shown.push(row)
      continue
    }
    // A fork can be seen, so it begins a line of its own.
    if (row.branch || row.label) flush(true)
    let kept: AnswerPart[] = []
    let above: readonly AnswerPart[] = []
    let pieces = 0
    const keep = (isLast: boolean) => {
      if (kept.length === 0 && !(isLast && isWorthShowing(row, pieces))) return
      flush(true)
      shown.push({ ...row, key: pieces === 0 ? row.key : `${row.key}#${pieces}`, parts: kept, above })
      above = [...above, ...kept]
      kept = []
      pieces++
    }
    for (const part of row.parts) {
      if (isStep(part)) {
        keep(false)
        batch.push({ row, part })
      } else {
        kept.push(part)
      }
    }
    keep(true)
  }
  flush(!running)
  return shown
}

interface Piece {
  row: AssistantRow
  part: AnswerPart
}

/**
 * A step on the way to an answer. A call that failed or did nothing is seen for itself and never folded, and so is a
 * question: it is part of what was said.
 */
function isStep(part: AnswerPart): boolean {
  if (part.kind === 'tool') return isWell(part.tool.status) && part.tool.name !== 'clarify'
  return part.kind === 'thinking'
}

function isGoing(part: AnswerPart): boolean {
  if (part.kind === 'thinking') return part.open
  return part.kind === 'tool' && isOpen(part.tool.status)
}

/** An answer without parts that still says something: that it failed, was cut off, or has begun and no step of it tells so. */
function isWorthShowing(row: AssistantRow, pieces: number): boolean {
  const last = row.parts.at(-1)
  return pieces === 0 && ((row.streaming && !(last && isGoing(last))) || isCutShort(row))
}

function isCutShort({ stopReason, errorMessage }: AssistantRow): boolean {
  return stopReason === 'error' || stopReason === 'aborted' || stopReason === 'length' || errorMessage !== null
}

/** The steps of a run under way stay as they are until something follows them; then they are one line. */
function activity(batch: readonly Piece[], isOver: boolean): TranscriptRow[] {
  const [first] = batch
  if (!first) return []
  const parts = batch.map((piece) => piece.part)
  const tools = parts.flatMap((part) => (part.kind === 'tool' ? [part.tool] : []))
  const counts = new Map<string, { name: string; label: string; count: number }>()
  for (const { name, label } of tools) counts.set(name, { name, label, count: (counts.get(name)?.count ?? 0) + 1 })
  const took = parts.map((part) =>
    part.kind === 'tool' ? part.tool.durationMs : part.kind === 'thinking' ? part.durationMs : null,
  )
  const known = took.filter((ms) => ms !== null)
  const row: ActivityRow = {
    kind: 'activity',
    key: `activity:${parts[0]!.key}`,
    entryId: first.row.entryId,
    branch: first.row.branch,
    label: first.row.label,
    at: first.row.at,
    parts,
    live: !isOver || parts.some(isGoing),
    toolCount: tools.length,
    thinkingCount: parts.length - tools.length,
    tools: [...counts.values()].toSorted((a, b) => b.count - a.count),
    durationMs: known.length === 0 ? null : known.reduce((sum, ms) => sum + ms, 0),
    answer: batch.at(-1)!.row,
  }
  return [row]
}

/**
 * The first answer of a turn has a head, the last row of it a foot. What belongs to an answer as a whole (its fork, its
 * label, how it ended) stands at its last row.
 */
function withPlaces(rows: readonly TranscriptRow[], running: boolean): TranscriptRow[] {
  const last = running ? -1 : rows.findLastIndex(isOfAnswer)
  const lastOf = new Map<string | null, number>()
  rows.forEach((row, at) => isOfAnswer(row) && lastOf.set(answerOf(row).entryId, at))
  let begun = false
  return rows.map((row, at) => {
    if (row.kind === 'user') begun = false
    if (!isOfAnswer(row)) return row
    const place = { continues: begun, ends: at === last }
    begun = true
    if (row.kind === 'assistant') return { ...row, ...(lastOf.get(row.entryId) === at ? null : WITHOUT_END), ...place }
    const answer = answerOf(row)
    const hasFoot =
      lastOf.get(answer.entryId) === at &&
      (place.ends || answer.branch !== null || answer.label !== null || isCutShort(answer))
    return hasFoot
      ? { ...row, entryId: answer.entryId, branch: answer.branch, label: answer.label, answer: { ...answer, ...place } }
      : { ...row, branch: null, label: null, answer: null }
  })
}

const WITHOUT_END = { branch: null, label: null, stopReason: null, cutBy: null, errorMessage: null } as const

const isOfAnswer = (row: TranscriptRow): row is AssistantRow | ActivityRow =>
  row.kind === 'assistant' || row.kind === 'activity'
const answerOf = (row: AssistantRow | ActivityRow): AssistantRow => (row.kind === 'assistant' ? row : row.answer!)
