import { computed } from 'vue'
import { useI18n } from 'vue-i18n'
import type { SkillView } from '@/protocol'
import type { CommandRefusal, CommandView } from '@/view/types'
import { readCommand } from './commandLine'

export interface CommandActions {
  /** With what the summary should pay attention to, or nothing. */
  compact(focus: string): void
  clear(): void
  help(): void
  tree(): void
  stop(): void
  /** All edits in the workspace, or no longer. */
  edits(): void
  rename(title: string): void
}

/** Where the commands are typed. */
export interface CommandPlace {
  /** Whether the session has messages yet. */
  isEmpty(): boolean
  isRunning(): boolean
}

/** What came of a text: a message to send, a command that was carried out, or why it was not. */
export type CommandOutcome =
  { kind: 'message'; text: string } | { kind: 'done' } | { kind: 'refused'; refusal: CommandRefusal }

/** What can be typed with a slash. */
export function useCommands(actions: CommandActions, place: CommandPlace, skills: () => readonly SkillView[]) {
  const { t } = useI18n()

  const commands = computed<readonly CommandView[]>(() => [
    { name: '/compact', hint: t('chat.commands.compactHint'), description: t('chat.commands.compact') },
    { name: '/clear', hint: '', description: t('chat.commands.clear') },
    { name: '/tree', hint: '', description: t('chat.commands.tree') },
    { name: '/stop', hint: '', description: t('chat.commands.stop') },
    { name: '/edits', hint: '', description: t('chat.commands.edits') },
    { name: '/rename', hint: t('chat.commands.renameHint'), description: t('chat.commands.rename') },
    { name: '/skill', hint: t('chat.commands.skillHint'), description: t('chat.commands.skill') },
    { name: '/help', hint: '', description: t('chat.commands.help') },
    // What follows the name of a skill is a message, which the server understands.
    ...skills().map((skill) => ({
      name: `/skill ${skill.name}`,
      hint: t('chat.commands.skillRest'),
      description: skill.description,
    })),
  ])

  const done: CommandOutcome = { kind: 'done' }
  const refused = (text: string, suggestions: readonly string[] = []): CommandOutcome => ({
    kind: 'refused',
    refusal: { text, suggestions },
  })

  /** Carries out a text that is a command. */
  function run(text: string): CommandOutcome {
    const read = readCommand(
      text,
      commands.value.map(({ name }) => name),
    )
    if (read.kind === 'message') return read
    if (read.kind === 'unknown')
      return refused(t('chat.commands.unknown', { name: read.name, escaped: `/${read.name}` }), read.suggestions)
    const { name, rest } = read
    switch (name) {
      case '/compact':
        if (place.isEmpty()) return refused(t('chat.commands.nothing.compact'))
        actions.compact(rest)
        return done
      case '/tree':
        if (place.isEmpty()) return refused(t('chat.commands.nothing.tree'))
        actions.tree()
        return done
      case '/stop':
        if (!place.isRunning()) return refused(t('chat.commands.nothing.stop'))
        actions.stop()
        return done
      case '/rename':
        if (place.isEmpty()) return refused(t('chat.commands.nothing.rename'))
        if (rest === '') return refused(t('chat.commands.nothing.title'))
        actions.rename(rest)
        return done
      case '/clear':
        actions.clear()
        return done
      case '/help':
        actions.help()
        return done
      case '/edits':
        actions.edits()
        return done
      default:
        // The server carries out skills, and says which names it does not know.
        return rest === '' ? refused(t('chat.commands.nothing.skill')) : { kind: 'message', text }
    }
  }

  return { commands, run }
}
