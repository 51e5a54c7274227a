/**
 * Text that arrives in pieces. Offsets on the wire count Unicode scalar values; JavaScript counts
 * UTF-16 units, so the length is kept beside the text.
 */

import { piecesOf } from './pieces'

export interface OpenText {
  /** The part that is final. Kept apart from the end, so that a long text is not copied for each new word. */
  readonly settled: readonly string[]
  readonly end: string
  /** Of all of it, in Unicode scalar values. */
  readonly length: number
}

export const NO_TEXT: OpenText = { settled: [], end: '', length: 0 }

export function openText(text: string): OpenText {
  const pieces = piecesOf(text)
  return { settled: pieces.slice(0, -1), end: pieces.at(-1)!, length: scalars(text) }
}

export function wholeText({ settled, end }: OpenText): string {
  return settled.length === 0 ? end : settled.join('') + end
}

/** How many Unicode scalar values a text has. */
export function scalars(text: string): number {
  let pairs = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0xd800 && unit <= 0xdbff && isLow(text.charCodeAt(at + 1))) {
      pairs++
      at++
    }
  }
  return text.length - pairs
}

/** The text behind the first `count` scalar values. */
export function skipScalars(text: string, count: number): string {
  let at = 0
  for (let left = count; left > 0 && at < text.length; left--) {
    const unit = text.charCodeAt(at)
    at += unit >= 0xd800 && unit <= 0xdbff && isLow(text.charCodeAt(at + 1)) ? 2 : 1
  }
  return text.slice(at)
}

/**
 * Adds a piece: what is known already is dropped. `null` if something between is missing.
 * The same object comes back if there was nothing new.
 */
export function append(open: OpenText, offset: number, piece: string): OpenText | null {
  if (offset > open.length) return null
  const fresh = offset === open.length ? piece : skipScalars(piece, open.length - offset)
  if (fresh === '') return open
  const next = { ...open, end: open.end + fresh, length: open.length + scalars(fresh) }
  // Only the end of a line can settle what stands before it.
  return fresh.includes('\n') ? settle(next) : next
}

function settle(open: OpenText): OpenText {
  const pieces = piecesOf(open.end)
  if (pieces.length === 1) return open
  return { ...open, settled: [...open.settled, ...pieces.slice(0, -1)], end: pieces.at(-1)! }
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
