/**
 * Text that arrives in pieces. Offsets on the wire count Unicode scalar values; JavaScript counts
 * UTF-16 units, so the length is kept beside the text.
 */
export interface OpenText {
  readonly text: string
  /** In Unicode scalar values. */
  readonly length: number
}

export const NO_TEXT: OpenText = { text: '', length: 0 }

export function openText(text: string): OpenText {
  return { text, length: scalars(text) }
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
  return { text: open.text + fresh, length: open.length + scalars(fresh) }
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
