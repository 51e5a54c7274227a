/**
 * Cuts a long text in Markdown between two of its blocks, so that a long answer is many small texts: each is drawn
 * for itself, and only the last one changes while the answer grows. Where a text is cut depends on what stands before
 * the cut and on the line behind it, once that has ended: a text that grows is cut as the whole one is.
 */

/** A piece has at least this many letters. */
const PIECE_MIN = 4_000
/** One this long also ends before an item of a list, which is a list of its own then. */
const PIECE_LONG = 4 * PIECE_MIN

/** The pieces of a text; together they are the text, and the last one may still grow. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  let rest = text
  for (let end = pieceEnd(rest); end !== null; end = pieceEnd(rest)) {
    pieces.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return [...pieces, rest]
}

/** Where the first piece of a text ends; null if there is no place to cut, or not yet. */
function pieceEnd(text: string): number | null {
  if (text.length <= PIECE_MIN) return null
  let closes: RegExp | null = null
  let afterBlank = false
  for (let at = 0; ;) {
    const end = text.indexOf('\n', at)
    if (end < 0) return null
    const line = text.slice(at, end)
    if (afterBlank && closes === null && at >= PIECE_MIN) {
      if (at >= PIECE_LONG ? BEGINS.test(line) : BEGINS.test(line) && !BELONGS.test(line)) return at
    }
    if (closes !== null) closes = closes.test(line) ? null : closes
    else closes = opened(line)
    afterBlank = line.trim() === ''
    at = end + 1
  }
}

/** A line that is not the continuation of an item or a code block by indentation. */
const BEGINS = /^\S/
/** Items and quotations, which may belong to what stands above the blank line. */
const BELONGS = /^(?:>|(?:[-*+]|\d{1,9}[.)])(?:\s|$))/

/** What ends the code or the formula that a line opens. */
function opened(line: string): RegExp | null {
  const fence = /^\s*(?:[-*+>]\s+|\d{1,9}[.)]\s+)*(`{3,}|~{3,})([^\n]*)$/.exec(line)
  if (fence) {
    const [, mark, info] = fence as unknown as [string, string, string]
    // What has its end on the same line is code inside a paragraph.
    if (mark.startsWith('`') && info.includes('`')) return null
    return new RegExp(`^\\s*(?:>\\s*)*${mark[0]}{${mark.length},}\\s*$`)
  }
  const formula = /^\s*(\$\$|\\\[)(.*)$/.exec(line)
  if (!formula) return null
  const close = formula[1] === '$$' ? '$$' : '\\]'
  if (formula[2]!.includes(close)) return null
  return close === '$$' ? /\$\$/ : /\\\]/
}

/** Lines such as `[1]: https://…`, to which every piece of the text may refer. */
export function definitionsIn(text: string): string {
  return text.includes(']:') ? (text.match(/^ {0,3}\[[^\]\n]+\]:[^\n]*\S[^\n]*$/gm) ?? []).join('\n') : ''
}
