import { computed } from 'vue'
import { useI18n } from 'vue-i18n'
import type { SkillView } from '@/protocol'
import type { CommandView } from '@/view/types'

export interface CommandActions {
  /** With what the summary should pay attention to, or nothing. */
  compact(focus: string): void
  clear(): void
  help(): void
  tree(): void
  stop(): void
  rename(title: string): void
}

/** What can be typed with a slash. */
export function useCommands(actions: CommandActions, skills: () => readonly SkillView[]) {
  const { t } = useI18n()

  const commands = computed<readonly CommandView[]>(() => [
    { name: '/compact', hint: t('chat.commands.compactHint'), description: t('chat.commands.compact') },
    { name: '/clear', hint: '', description: t('chat.commands.clear') },
    { name: '/tree', hint: '', description: t('chat.commands.tree') },
    { name: '/stop', hint: '', description: t('chat.commands.stop') },
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

  /** Carries out a text that is a command; false if it is a message. */
  function run(text: string): boolean {
    const found = /^\/(\w+)(?:\s+(.*))?$/s.exec(text.trim())
    if (!found) return false
    const [, name, rest = ''] = found
    switch (name) {
      case 'compact':
        actions.compact(rest.trim())
        return true
      case 'clear':
      case 'help':
      case 'tree':
      case 'stop':
        actions[name]()
        return true
      case 'rename':
        if (rest.trim() !== '') actions.rename(rest.trim())
        return true
      default:
        return false
    }
  }

  return { commands, run }
}
