/**
 * Ends what a growing text has left open, for the eye only: `**bo` is bold at once, half a link is its words,
 * the first row of a table is a table. Takes the source of the last block.
 */
export function mend(block: string): string {
  if (/^\s*(`{3,}|~{3,}|\$\$|\\\[)/.test(block)) return block
  return mendInline(mendLines(block))
}

function mendLines(block: string): string {
  const lines = block.trimEnd().split('\n')
  const last = lines.at(-1)!.trim()
  // A line of dashes under a text would make it a heading for a moment; a lone mark is the beginning of something.
  if (lines.length > 1 && /^(=+|-+)$/.test(last)) return lines.slice(0, -1).join('\n')
  if (/^(#{1,6}|[-*+>]|\d{1,3}[.)])$/.test(last) && lines.length === 1) return ''
  const head = lines.findIndex((line) => /^\s*\|/.test(line))
  if (head < 0 || head < lines.length - 2) return lines.join('\n')
  const columns = lines[head]!.split('|').length - (/\|\s*$/.test(lines[head]!) ? 2 : 1)
  const ruler = lines[head + 1]
  if (columns < 1 || (ruler !== undefined && !/^[\s|:-]*$/.test(ruler))) return lines.join('\n')
  return [...lines.slice(0, head + 1), `|${' --- |'.repeat(columns)}`].join('\n')
}

function mendInline(text: string): string {
  // Only the last paragraph of the block can be open.
  const start = text.lastIndexOf('\n\n') + 1
  const head = text.slice(0, start)
  let tail = text.slice(start)

  const code = openCode(tail)
  if (code !== null) return head + (code === tail.length - 1 ? tail.slice(0, -1) : `${tail}\``)

  tail = tail
    .replace(/!\[[^\]\n]*(\]\([^)\n]*)?$/, '')
    .replace(/!\[[^\]\n]*\]$/, '')
    .replace(/\[([^[\]\n]*)\]\([^)\n]*$/, '$1')
    .replace(/\[([^[\]\n]{1,80})$/, (whole, words: string) => (/^[ xX]?$/.test(words) ? whole : words))
  const bare = tail.replace(/`[^`\n]*`/g, (span) => ' '.repeat(span.length)).replace(/\\./g, '  ')
  return (
    head +
    tail.replace(/(\*{1,3}|~~|__)$/, (mark) => (isOpener(bare, bare.length - mark.length) ? '' : mark)) +
    closers(bare)
  )
}

/** Where a code span begins that does not end; null if all end. */
function openCode(text: string): number | null {
  let open: number | null = null
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\' && open === null) at++
    else if (text[at] === '`') open = open === null ? at : null
    else if (text[at] === '\n' && text[at + 1] === '\n') open = null
  }
  return open
}

const isOpener = (text: string, at: number) => at === 0 || /[\s(["'“‘（「：，。、]/.test(text[at - 1]!)

/** What ends the open emphasis, the innermost first. */
function closers(text: string): string {
  const open: string[] = []
  for (const match of text.matchAll(/\*{1,3}|~~/g)) {
    const mark = match[0]
    const next = text[match.index + mark.length] ?? ' '
    if (open.at(-1) === mark) open.pop()
    // A star before a space is a bullet or a product; one at the very end was taken away above.
    else if (!/\s/.test(next)) open.push(mark)
  }
  return open.toReversed().join('')
}
