import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import { load as loadKept, save } from '@/browser/storage'
import { request } from '@/api'
import type { AgentBrief, ChannelModels, Listing } from '@/protocol'
import { useConnection } from './connection'

const KEY = 'netaclaw.agent'

/** Agents and models that one can choose from. */
export const useCatalogue = defineStore('catalogue', () => {
  const agents = shallowRef<readonly AgentBrief[]>([])
  const models = shallowRef<Listing<ChannelModels>['items']>([])
  const lastAgentId = shallowRef<string | null>(loadKept('local', KEY, null))

  async function load(): Promise<void> {
    const [agentList, modelList] = await Promise.allSettled([
      request<{ items: AgentBrief[] }>('agents'),
      request<Listing<ChannelModels>>('models'),
    ])
    if (agentList.status === 'fulfilled') agents.value = agentList.value.items
    if (modelList.status === 'fulfilled') models.value = modelList.value.items
  }

  useConnection().onConnected(() => void load())

  return {
    agents,
    models,
    load,
    /** The agent for a new session: the last one that was used, or the default one. */
    agentForNew: computed(
      () => agents.value.find((agent) => agent.id === lastAgentId.value) ?? agents.value.find((agent) => agent.isDefault) ?? null,
    ),
    chooseAgent(id: string): void {
      lastAgentId.value = id
      save('local', KEY, id)
    },
  }
})
