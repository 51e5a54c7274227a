import type { CommandView } from '@/view/types'

/** Commands that fit what has been typed: only while the text is the beginning of a command and nothing else. */
export function matchCommands(commands: readonly CommandView[], text: string): readonly CommandView[] {
  if (!/^\/[^\s/]*$/.test(text)) return []
  const typed = text.toLowerCase()
  const begins = commands.filter((command) => command.name.toLowerCase().startsWith(typed))
  const contains = commands.filter((command) => !begins.includes(command) && command.name.toLowerCase().includes(typed.slice(1)))
  return [...begins, ...contains]
}
