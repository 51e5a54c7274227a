/** Reads what was typed into the composer: a command, a message, or a command that does not exist. Pure. */

export type CommandLine =
  | { kind: 'message'; text: string }
  | { kind: 'command'; name: string; rest: string }
  | { kind: 'unknown'; name: string; suggestions: readonly string[] }

/** More names than this are a list, and not a suggestion. */
const SUGGESTIONS_MAX = 3
/** So many letters may be wrong, missing or too many. */
const TYPOS_MAX = 2

/**
 * `names` are the commands that exist, with their slash; those of two words are completions of their first word.
 * Two slashes begin a message with one, which the server takes away. A path such as `/etc/hosts` is a message: no command has a second slash.
 */
export function readCommand(text: string, names: readonly string[]): CommandLine {
  const trimmed = text.trim()
  if (trimmed.startsWith('//')) return { kind: 'message', text: trimmed }
  const [, typed, rest = ''] = /^(\/[^\s/]+)(?:\s+(.*))?$/s.exec(trimmed) ?? []
  if (typed === undefined) return { kind: 'message', text }
  const known = names.filter((name) => !name.includes(' '))
  const name = typed.toLowerCase()
  if (known.includes(name)) return { kind: 'command', name, rest: rest.trim() }
  return { kind: 'unknown', name: typed, suggestions: similar(name, known) }
}

/** The names that begin as it does or differ by a few letters, the nearest first. */
function similar(typed: string, names: readonly string[]): readonly string[] {
  return names
    .map((name) => ({ name, distance: name.startsWith(typed) ? 0 : distance(typed, name) }))
    .filter(({ distance, name }) => distance <= TYPOS_MAX && distance < name.length - 2)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, SUGGESTIONS_MAX)
    .map(({ name }) => name)
}

/** How many letters have to be added, left out or changed to make one word of the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}
