import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import { load as loadKept, save } from '@/browser/storage'
import { request } from '@/api'
import type { AgentBrief, AgentModel, ChannelModels, ChatModel, Listing, ThinkingLevel } from '@/protocol'
import { useConnection } from './connection'

const KEY = 'netaclaw.agent'

/** What the next new session is to have instead of what its agent says. */
export interface NewSessionChoice {
  readonly model?: ChatModel
  readonly thinkingLevel?: ThinkingLevel
}

/** Agents and models that one can choose from. */
export const useCatalogue = defineStore('catalogue', () => {
  const agents = shallowRef<readonly AgentBrief[]>([])
  const models = shallowRef<Listing<ChannelModels>['items']>([])
  const defaults = shallowRef<readonly AgentModel[]>([])
  const lastAgentId = shallowRef<string | null>(loadKept('local', KEY, null))

  const forNew = shallowRef<NewSessionChoice>({})

  async function load(): Promise<void> {
    const [agentList, modelList, defaultList] = await Promise.allSettled([
      request<{ items: AgentBrief[] }>('agents'),
      request<Listing<ChannelModels>>('models'),
      request<Listing<AgentModel>>('models/defaults'),
    ])
    if (agentList.status === 'fulfilled') agents.value = agentList.value.items
    if (modelList.status === 'fulfilled') models.value = modelList.value.items
    if (defaultList.status === 'fulfilled') defaults.value = defaultList.value.items
  }

  useConnection().onConnected(() => void load())

  return {
    agents,
    models,
    /** The model of each agent; agents without a usable one are missing. */
    defaults,
    forNew,
    load,
    /** The one that answers where no agent is named. */
    defaultAgent: computed(() => agents.value.find((agent) => agent.isDefault) ?? null),
    /** The agent for a new session: the last one that was used, or the default one. */
    agentForNew: computed(
      () =>
        agents.value.find((agent) => agent.id === lastAgentId.value) ??
        agents.value.find((agent) => agent.isDefault) ??
        null,
    ),
    chooseAgent(id: string): void {
      lastAgentId.value = id
      forNew.value = {}
      save('local', KEY, id)
    },
    /** Chooses for the next new session; what is not named goes back to what the agent says. */
    chooseForNew(choice: NewSessionChoice): void {
      forNew.value = choice
    },
    /** The choice, which counts for one session. */
    takeForNew(): NewSessionChoice {
      const choice = forNew.value
      forNew.value = {}
      return choice
    },
  }
})
