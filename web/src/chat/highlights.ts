/** Marks words in the page without touching its nodes: those that stream in stay as they are. */

import { normal } from '@/view/find'

/** Not part of the text: what is only heard, and what belongs to buttons. */
const SKIPPED = '.nc-visually-hidden, .actions, svg, style, textarea'
const BLOCKS = 'p, li, td, th, pre, h1, h2, h3, h4, h5, h6, summary, div, dd, dt, section, button'

/** Where the words stand below an element. They may go across its inner elements, and not across paragraphs. */
export function rangesIn(root: Element, words: string): Range[] {
  const needle = normal(words.trim())
  if (needle === '') return []
  const nodes: { node: Text; from: number }[] = []
  let text = ''
  let block: Element | null = null
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    node instanceof Element && node.matches(SKIPPED) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  )
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!(node instanceof Text)) continue
    const around = node.parentElement?.closest(BLOCKS) ?? null
    if (around !== block) text += '\n'
    block = around
    nodes.push({ node, from: text.length })
    text += node.data
  }
  const hay = normal(text)
  // A letter that is another number of letters in the other case would put everything behind it in the wrong place.
  if (hay.length !== text.length) return []
  const ranges: Range[] = []
  let first = 0
  for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, at + needle.length)) {
    while (first + 1 < nodes.length && nodes[first + 1]!.from <= at) first++
    let last = first
    while (last + 1 < nodes.length && nodes[last + 1]!.from < at + needle.length) last++
    const [start, end] = [nodes[first]!, nodes[last]!]
    const range = document.createRange()
    range.setStart(start.node, at - start.from)
    range.setEnd(end.node, Math.min(end.node.length, at + needle.length - end.from))
    ranges.push(range)
  }
  return ranges
}

const ALL = 'nc-found'
const CURRENT = 'nc-found-current'

/** Browsers without marks show where the words are by scrolling to them. */
export function mark(ranges: readonly Range[], current: Range | null): void {
  if (!('highlights' in CSS)) return
  CSS.highlights.set(ALL, new Highlight(...ranges))
  if (!current) return void CSS.highlights.delete(CURRENT)
  const highlight = new Highlight(current)
  highlight.priority = 1
  CSS.highlights.set(CURRENT, highlight)
}

export function unmark(): void {
  if (!('highlights' in CSS)) return
  CSS.highlights.delete(ALL)
  CSS.highlights.delete(CURRENT)
}
