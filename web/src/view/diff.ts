import type { DiffLine, DiffView } from './types'

/** Lines that are shown at most; more would not be read. */
const LINES_MAX = 2_000

/**
 * A diff that a tool tells of in its details: `diff` as unified text, or with a line number after
 * the sign, as Pi writes it. `path` says of which file.
 */
export function diffOf(details: unknown, args: unknown): DiffView | null {
  const text = field(details, 'diff')
  if (typeof text !== 'string' || text.trim() === '') return null
  const lines =
    text.includes('\n@@') || text.startsWith('@@') || text.startsWith('---') ? unified(text) : numbered(text)
  const path = field(details, 'path') ?? field(args, 'path') ?? field(args, 'file_path')
  return {
    path: typeof path === 'string' ? path : null,
    lines: lines.slice(0, LINES_MAX),
    added: lines.filter((line) => line.kind === 'added').length,
    removed: lines.filter((line) => line.kind === 'removed').length,
  }
}

function unified(text: string): DiffLine[] {
  const lines: DiffLine[] = []
  let [before, after] = [0, 0]
  let isInside = false
  for (const line of text.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line)
    if (hunk) {
      ;[before, after] = [Number(hunk[1]), Number(hunk[2])]
      isInside = true
      if (lines.length > 0) lines.push(gap())
    } else if (!isInside || line.startsWith('\\')) {
      // The names of the files stand above the first change; below, such a line is one of theirs.
      continue
    } else if (line.startsWith('+')) {
      lines.push({ kind: 'added', oldNumber: null, newNumber: after++, text: line.slice(1) })
    } else if (line.startsWith('-')) {
      lines.push({ kind: 'removed', oldNumber: before++, newNumber: null, text: line.slice(1) })
    } else if (line.startsWith(' ')) {
      lines.push({ kind: 'same', oldNumber: before++, newNumber: after++, text: line.slice(1) })
    }
  }
  return lines
}

function numbered(text: string): DiffLine[] {
  const lines: DiffLine[] = []
  for (const line of text.split('\n')) {
    const found = /^([+\- ])\s*(\d+)? ?(.*)$/.exec(line)
    if (!found || line === '') continue
    const [, sign, digits, words = ''] = found
    const number = digits === undefined ? null : Number(digits)
    if (sign === '+') lines.push({ kind: 'added', oldNumber: null, newNumber: number, text: words })
    else if (sign === '-') lines.push({ kind: 'removed', oldNumber: number, newNumber: null, text: words })
    else if (number === null) lines.push(gap())
    else lines.push({ kind: 'same', oldNumber: number, newNumber: number, text: words })
  }
  return lines
}

function gap(): DiffLine {
  return { kind: 'gap', oldNumber: null, newNumber: null, text: '' }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
