/** Long texts in pieces, and answers that hold them as several rows: only what is near the view is in the page. */

import { definitionsIn, piecesOf, type OpenText } from '@/session'
import type { AnswerPart, AssistantRow, TextPart, TranscriptRow } from './types'

/** A text that is complete. */
export function textParts(key: string, text: string): readonly TextPart[] {
  const pieces = piecesOf(text)
  return partsOf(key, pieces, pieces.length === 1 ? '' : definitionsIn(text), false)
}

/** A text that arrives. */
export function growingParts(key: string, { settled, end }: OpenText, open: boolean): readonly TextPart[] {
  const definitions = settled.length === 0 ? [] : [definitionsOf(settled), definitionsIn(end)]
  return partsOf(key, [...settled, end], definitions.filter(Boolean).join('\n'), open)
}

function partsOf(key: string, pieces: readonly string[], definitions: string, open: boolean): readonly TextPart[] {
  const last = pieces.length - 1
  return pieces.map((text, at) => ({
    kind: 'text',
    key: at === 0 ? key : `${key}:${at}`,
    text,
    open: open && at === last,
    cut: at < last,
    definitions,
  }))
}

/** Pieces stay the same list until another one settles. */
const known = new WeakMap<readonly string[], string>()

function definitionsOf(settled: readonly string[]): string {
  const definitions = known.get(settled) ?? settled.map(definitionsIn).filter(Boolean).join('\n')
  known.set(settled, definitions)
  return definitions
}

/** Answers with long texts as several rows, of which the last one has the foot. */
export function spread(rows: readonly TranscriptRow[]): TranscriptRow[] {
  return rows.flatMap((row) => (row.kind === 'assistant' && row.parts.some(isCut) ? spreadRow(row) : [row]))
}

const isCut = (part: AnswerPart) => part.kind === 'text' && part.cut

function spreadRow(row: AssistantRow): AssistantRow[] {
  const rows: AssistantRow[] = []
  let from = 0
  row.parts.forEach((part, at) => {
    const isLast = at === row.parts.length - 1
    if (!isLast && !isCut(part)) return
    const piece = {
      ...row,
      key: rows.length === 0 ? row.key : `${row.key}~${rows.length}`,
      parts: row.parts.slice(from, at + 1),
      continues: row.continues || from > 0,
    }
    rows.push(isLast ? { ...piece, above: [...row.above, ...row.parts.slice(0, from)] } : { ...piece, ...WITHOUT_FOOT })
    from = at + 1
  })
  return rows
}

const WITHOUT_FOOT = {
  cut: true,
  streaming: false,
  ends: false,
  branch: null,
  label: null,
  stopReason: null,
  errorMessage: null,
} as const
