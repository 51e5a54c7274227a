/** Words in a conversation, wherever they stand in it: also in what is folded away. */

import { plain } from './content'
import type { AnswerPart, TranscriptRow } from './types'

/** One place where the words were found. */
export interface FoundView {
  readonly rowKey: string
  /** The part of an answer that they stand in. */
  readonly partKey: string | null
  /** What has to be open for them to be seen. */
  readonly openKeys: readonly string[]
  /** Which of those in the same part, or in the same row, counted from 0. */
  readonly nth: number
}

/** More are not counted. */
export const FOUND_MAX = 2_000

/** Finds with a memory: rows that did not change are not searched again. */
export function finder(): (rows: readonly TranscriptRow[], words: string) => readonly FoundView[] {
  let wanted = ''
  let known = new WeakMap<TranscriptRow, readonly FoundView[]>()
  return (rows, words) => {
    const needle = normal(words.trim())
    if (needle === '') return []
    if (needle !== wanted) {
      wanted = needle
      known = new WeakMap()
    }
    const found: FoundView[] = []
    for (const row of rows) {
      let here = known.get(row)
      if (!here) known.set(row, (here = textsOf(row).flatMap((text) => foundIn(row.key, text, needle))))
      found.push(...here)
      if (found.length > FOUND_MAX) break
    }
    return found
  }
}

/** As it is compared: large and small letters are the same. */
export const normal = (text: string): string => text.toLowerCase()

interface Text {
  readonly partKey: string | null
  readonly openKeys: readonly string[]
  /** Markdown is read in its source and without its marks: some words are there only in one of the two. */
  readonly markdown?: boolean
  readonly text: string
}

function foundIn(rowKey: string, { partKey, openKeys, markdown, text }: Text, needle: string): FoundView[] {
  const count = Math.max(countIn(text, needle), markdown ? countIn(plain(text), needle) : 0)
  return Array.from({ length: Math.min(count, FOUND_MAX + 1) }, (_, nth) => ({ rowKey, partKey, openKeys, nth }))
}

function countIn(text: string, needle: string): number {
  const hay = normal(text)
  let count = 0
  for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, at + needle.length)) count++
  return count
}

function textsOf(row: TranscriptRow): readonly Text[] {
  switch (row.kind) {
    case 'user':
    case 'pending':
      return [{ partKey: null, openKeys: [row.key], text: row.text }]
    case 'assistant':
      return row.parts.flatMap((part) => textsOfPart(part, []))
    case 'activity':
      return row.parts.flatMap((part) => textsOfPart(part, [row.key]))
    case 'branchSummary':
      return [{ partKey: null, openKeys: [row.key], markdown: true, text: row.summary }]
    case 'custom':
      return [{ partKey: null, openKeys: [], markdown: true, text: row.text }]
    case 'error':
      return [{ partKey: null, openKeys: [], text: row.message }]
    default:
      return []
  }
}

function textsOfPart(part: AnswerPart, openKeys: readonly string[]): readonly Text[] {
  switch (part.kind) {
    case 'text':
      return [{ partKey: part.key, openKeys, markdown: true, text: part.text }]
    case 'thinking':
      return [{ partKey: part.key, openKeys: [...openKeys, part.key], markdown: true, text: part.text }]
    case 'tool': {
      const { args, argsText, output, result } = part.tool
      const asked = args === undefined ? argsText : JSON.stringify(args, null, 2)
      return [
        { partKey: part.key, openKeys: [...openKeys, part.key], text: [asked, result?.text ?? output].join('\n') },
      ]
    }
    case 'image':
      return []
  }
}
