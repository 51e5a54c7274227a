import type { CommandView } from '@/view/types'

/**
 * Commands that fit what has been typed: only while the text is the beginning of a command and nothing else. A command
 * of two words, such as one for each skill, comes up with its first word written out or with a good part of its second.
 */
export function matchCommands(commands: readonly CommandView[], text: string): readonly CommandView[] {
  const [, first, second] = /^(\/[^\s/]*)(?: ([^\s/]*))?$/.exec(text.toLowerCase()) ?? []
  if (first === undefined) return []
  if (second !== undefined)
    return ranked(
      commands.filter((command) => words(command)[0] === first && words(command).length > 1),
      1,
      second,
    )
  const simple = ranked(
    commands.filter((command) => words(command).length === 1),
    0,
    first,
  )
  return [...simple, ...(first.length > PART_MIN ? ranked(commands, 1, first.slice(1)) : [])]
}

/** So much of the second word, and a slash, say that it is meant. */
const PART_MIN = 3

const words = (command: CommandView): string[] => command.name.toLowerCase().split(' ')

/** Those whose word begins so, and then those whose word has it somewhere. */
function ranked(commands: readonly CommandView[], at: 0 | 1, typed: string): readonly CommandView[] {
  const begins = commands.filter((command) => words(command)[at]?.startsWith(typed))
  const part = typed.replace('/', '')
  const contains = commands.filter((command) => !begins.includes(command) && words(command)[at]?.includes(part))
  return [...begins, ...contains]
}
