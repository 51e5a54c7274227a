import type { MatchFile, MatchesView, ToolView } from './types'

/** Lines that are shown at most; more would not be read. */
const LINES_MAX = 1_000

/**
 * What `grep` found: below the path of each file its lines, a colon behind the number of a match and a dash behind that of
 * a line around it. Null for everything else.
 */
export function matchesOf(tool: Pick<ToolView, 'name' | 'status' | 'result'>): MatchesView | null {
  if (tool.name !== 'grep' || tool.status !== 'done' || tool.result === null) return null
  const files: MatchFile[] = []
  const notes: string[] = []
  let lines = 0
  let open: MatchFile | null = null
  for (const line of tool.result.text.split('\n')) {
    const numbered = open && /^(\d+)([:-])(.*)$/.exec(line)
    if (line === '') open = null
    else if (/^\[.*\]$/.test(line)) notes.push(line.slice(1, -1))
    else if (open && line === '--') open.lines.push({ number: null, isMatch: false, text: '' })
    else if (open && numbered)
      open.lines.push({ number: Number(numbered[1]), isMatch: numbered[2] === ':', text: numbered[3] ?? '' })
    else files.push((open = { path: line, lines: [] }))
    if (open && ++lines >= LINES_MAX) break
  }
  return files.some((file) => file.lines.length > 0) ? { files, notes } : null
}
