import { useI18n } from 'vue-i18n'
import { api } from '@/api'
import type { Agent, ChannelView } from '@/protocol'
import type { Confirm } from '@/ui/dialog/useConfirm'
import { channelUsers } from './users'

/** Deletes an unused channel after a confirmation; otherwise shows what uses it. Returns whether it was deleted. */
export function useChannelDelete(confirm: Confirm): (channel: ChannelView) => Promise<boolean> {
  const { t } = useI18n()
  return async (channel) => {
    const [agents, dictionary] = await Promise.all([api.agents.list(), api.dictionary.list()])
    const whole = agents.items.filter((agent): agent is Agent => 'modelConfig' in agent)
    const users = channelUsers(channel.id, whole, dictionary.items)
    const title = t('channels.delete.title', { name: channel.name })
    if (users.length > 0) {
      const items = users.map((user) => t(`channels.delete.by.${user.kind}`, { name: user.name }))
      await confirm.ask({ title, text: t('channels.delete.used'), items, no: t('ui.close') })
      return false
    }
    const agreed = await confirm.ask({
      title,
      text: t('channels.delete.text'),
      yes: t('channels.delete.yes'),
      danger: true,
    })
    if (agreed) await api.channels.delete(channel.id, channel.rev)
    return agreed
  }
}
