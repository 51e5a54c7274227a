/**
 * The few HTML tags that models write and readers expect: `<kbd>`, `<sub>`, `<sup>` and `<br>` in a line, `<details>`
 * around blocks, and footnotes, which are no HTML but end in the same tags. Everything else stays text.
 */

import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it'

const INLINE = /^<(\/?)(kbd|sub|sup)>/i
const BREAK = /^<br\s*\/?>/i
const DETAILS = /^<details(\s+open)?\s*>\s*(?:<summary>(.*?)<\/summary>)?\s*$/i
const SUMMARY = /^<summary>(.*?)<\/summary>\s*$/i
const DETAILS_END = /^<\/details>\s*$/i
const NOTE = /^\[\^([^\]\s]{1,40})\]/

export function html(md: MarkdownIt): void {
  md.inline.ruler.before('html_inline', 'plain_tag', plainTag)
  md.inline.ruler.before('link', 'footnote_mark', footnoteMark)
  md.block.ruler.before('html_block', 'details', details, { alt: ['paragraph', 'reference', 'blockquote', 'list'] })
  md.block.ruler.before('reference', 'footnote', footnote, { alt: ['paragraph', 'reference'] })
  md.renderer.rules['footnote_mark'] = (tokens, index) =>
    `<sup class="md-note">${md.utils.escapeHtml(tokens[index]!.content)}</sup>`
}

/** A tag counts only with its other half in the same text: one alone would reach to the end of it. */
function plainTag(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x3c) return false
  const rest = state.src.slice(state.pos, state.pos + 12)
  const line = BREAK.exec(rest)
  if (line) {
    if (!silent) state.push('hardbreak', 'br', 0)
    state.pos += line[0].length
    return true
  }
  const [found, closes, name] = INLINE.exec(rest) ?? []
  if (found === undefined || name === undefined) return false
  const tag = name.toLowerCase()
  const open = state.tokens.filter((token) => token.tag === tag).reduce((depth, token) => depth + token.nesting, 0)
  const isPaired = closes ? open > 0 : state.src.toLowerCase().indexOf(`</${tag}>`, state.pos) > 0
  if (!isPaired) return false
  if (!silent) state.push(`${tag}_${closes ? 'close' : 'open'}`, tag, closes ? -1 : 1)
  state.pos += found.length
  return true
}

function footnoteMark(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x5b) return false
  const found = NOTE.exec(state.src.slice(state.pos, state.pos + 44))
  // `[^1](…)` is a link.
  if (!found || state.src[state.pos + found[0].length] === '(') return false
  if (!silent) state.push('footnote_mark', 'sup', 0).content = found[1]!
  state.pos += found[0].length
  return true
}

const lineAt = (state: StateBlock, line: number): string =>
  state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line])

/** What is inside is Markdown. While the end has not come yet, all that follows is inside. */
function details(state: StateBlock, from: number, until: number, silent: boolean): boolean {
  if (state.sCount[from]! - state.blkIndent >= 4) return false
  const begin = DETAILS.exec(lineAt(state, from).trim())
  if (!begin) return false
  if (silent) return true
  let depth = 1
  let end = from + 1
  for (; end < until; end++) {
    const line = lineAt(state, end).trim()
    if (DETAILS.test(line)) depth++
    else if (DETAILS_END.test(line) && --depth === 0) break
  }
  let first = from + 1
  let summary = begin[2]
  const next = first < end ? SUMMARY.exec(lineAt(state, first).trim()) : null
  if (summary === undefined && next) {
    summary = next[1]
    first++
  }
  const open = state.push('details_open', 'details', 1)
  open.map = [from, Math.min(end + 1, until)]
  open.block = true
  if (begin[1]) open.attrSet('open', '')
  state.push('summary_open', 'summary', 1)
  const words = state.push('inline', '', 0)
  words.content = (summary ?? '…').trim()
  words.map = [from, first]
  words.children = []
  state.push('summary_close', 'summary', -1)
  const [parent, max] = [state.parentType, state.lineMax]
  state.lineMax = end
  state.md.block.tokenize(state, first, end)
  state.parentType = parent
  state.lineMax = max
  state.push('details_close', 'details', -1)
  state.line = Math.min(end + 1, until)
  return true
}

/** `[^1]: text`, shown where it stands. */
function footnote(state: StateBlock, from: number, until: number, silent: boolean): boolean {
  if (state.sCount[from]! - state.blkIndent >= 4) return false
  const line = lineAt(state, from)
  const mark = NOTE.exec(line)
  if (!mark || line[mark[0].length] !== ':') return false
  if (silent) return true
  // Lines that are indented go on with it.
  let end = from + 1
  while (end < until && state.sCount[end]! - state.blkIndent >= 2 && !state.isEmpty(end)) end++
  const open = state.push('paragraph_open', 'p', 1)
  open.attrSet('class', 'md-note-text')
  open.map = [from, end]
  const words = state.push('inline', '', 0)
  const more = Array.from({ length: end - from - 1 }, (_, at) => lineAt(state, from + 1 + at))
  words.content = [`[^${mark[1]!}] ${line.slice(mark[0].length + 1).trim()}`, ...more].join('\n')
  words.map = [from, end]
  words.children = []
  state.push('paragraph_close', 'p', -1)
  state.line = end
  return true
}
