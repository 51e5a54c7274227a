import { computed } from 'vue'
import { useCatalogue, useSession } from '@/stores'
import { modelInUse, modelOfAgent, modelOfSession, type ModelInUse } from '@/view/models'

/** The model that the next message goes to, and what is known about it. */
export function useModelInUse() {
  const session = useSession()
  const catalogue = useCatalogue()
  return computed<ModelInUse | null>(() => {
    const ofAgent = (agentId: string | null) => modelOfAgent(catalogue.defaults, agentId)
    if (session.id === null) {
      const chosen = catalogue.forNew.model
      const place = chosen ? { channelId: chosen.channelId, model: chosen.modelId } : null
      return modelInUse(catalogue.models, place ?? ofAgent(catalogue.agentForNew?.id ?? null))
    }
    if (!session.state) return null
    const model = modelOfSession(session.state, session.nextAgentId !== null)
    const place = model ? { channelId: model.provider, model: model.modelId } : null
    const agentId = session.agentId ?? catalogue.defaultAgent?.id ?? null
    return modelInUse(catalogue.models, place ?? ofAgent(agentId))
  })
}
