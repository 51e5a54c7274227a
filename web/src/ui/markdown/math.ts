/** Formulas for markdown-it: `$…$`, `\(…\)` in a line, `$$…$$`, `\[…\]` on their own. */

import type { MarkdownIt } from 'markdown-it'
import { placeSlot, type RenderEnv } from './slots'

export function math(md: MarkdownIt): void {
  md.inline.ruler.before('escape', 'math', (state, silent) => {
    const found = inlineFormula(state.src, state.pos, state.posMax)
    if (!found) return false
    if (!silent) {
      const token = state.push('math_inline', 'math', 0)
      token.content = found.text
      token.info = found.display ? 'display' : ''
    }
    state.pos = found.end
    return true
  })

  md.block.ruler.before(
    'fence',
    'math_block',
    (state, startLine, endLine, silent) => {
      const lineOf = (line: number) =>
        state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]).trimEnd()
      const first = lineOf(startLine)
      const close = first.startsWith('$$') ? '$$' : first.startsWith('\\[') ? '\\]' : null
      if (close === null) return false
      const rest = first.slice(2)
      // `$$x$$ and more` is a formula inside a paragraph.
      const inFirst = rest.indexOf(close)
      if (inFirst >= 0 && inFirst + 2 < rest.length) return false
      if (silent) return true

      const lines: string[] = []
      let line = startLine
      let closed = false
      for (let text = rest; ; text = lineOf(line)) {
        const end = text.indexOf(close)
        if (end >= 0) {
          lines.push(text.slice(0, end))
          closed = true
          break
        }
        lines.push(text)
        if (++line >= endLine || (state.sCount[line]! < state.blkIndent && lineOf(line) !== '')) break
      }
      state.line = closed ? line + 1 : line
      const token = state.push('math_block', 'math', 0)
      token.block = true
      token.content = lines.join('\n').trim()
      token.map = [startLine, state.line]
      token.info = closed ? 'closed' : ''
      return true
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] },
  )

  md.renderer.rules['math_inline'] = (tokens, index, _options, env) => {
    const token = tokens[index]!
    return placeSlot(
      env as RenderEnv,
      { kind: 'math', text: token.content, display: token.info === 'display', open: false },
      'span',
    )
  }
  md.renderer.rules['math_block'] = (tokens, index, _options, env) => {
    const token = tokens[index]!
    const open = (env as RenderEnv).growing && token.info !== 'closed'
    return placeSlot(env as RenderEnv, { kind: 'math', text: token.content, display: true, open }, 'div')
  }
}

const DELIMITERS = [
  { open: '$$', close: '$$', display: true },
  { open: '\\[', close: '\\]', display: true },
  { open: '\\(', close: '\\)', display: false },
] as const

function inlineFormula(source: string, start: number, end: number) {
  for (const { open, close, display } of DELIMITERS) {
    if (!source.startsWith(open, start)) continue
    const at = source.indexOf(close, start + 2)
    if (at < 0 || at + 2 > end || source.slice(start + 2, at).trim() === '') return null
    return { text: source.slice(start + 2, at).trim(), end: at + 2, display }
  }
  return source[start] === '$' ? dollarFormula(source, start, end) : null
}

/** Prices and shell variables have dollars too: a formula hugs its dollars, and no letter or digit touches them outside. */
function dollarFormula(source: string, start: number, end: number) {
  if (/[\w$\\]/.test(source[start - 1] ?? '') || /[\s$]/.test(source[start + 1] ?? ' ')) return null
  for (let at = start + 1; at < end; at++) {
    const letter = source[at]
    if (letter === '\\') at++
    else if (letter === '\n' || letter === '`') return null
    else if (letter === '$') {
      if (/\s/.test(source[at - 1]!) || /[\w$]/.test(source[at + 1] ?? '')) return null
      return { text: source.slice(start + 1, at), end: at + 1, display: false }
    }
  }
  return null
}
