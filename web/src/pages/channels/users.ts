/** Who uses a channel. Pure. */

import type { Agent, DictType } from '@/protocol'

export type ChannelUser = { kind: 'agent' | 'fallback' | 'auxiliary'; name: string } | { kind: 'setting'; name: string }

export function channelUsers(id: string, agents: readonly Agent[], dictionary: readonly DictType[]): ChannelUser[] {
  const users: ChannelUser[] = []
  for (const agent of agents) {
    const name = agent.label || agent.name
    if (agent.modelConfig.channelId === id) users.push({ kind: 'agent', name })
    if (agent.modelConfig.fallback?.channelId === id) users.push({ kind: 'fallback', name })
    if (agent.auxiliaryModelChannelId === id) users.push({ kind: 'auxiliary', name })
  }
  for (const group of dictionary) {
    for (const entry of group.entries) {
      if (entry.value === id) users.push({ kind: 'setting', name: `${group.key}.${entry.name}` })
    }
  }
  return users
}
