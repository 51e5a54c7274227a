/** Models to choose from, and what the one in use can do. Pure. */

import type { AgentModel, ChannelModels, ModelInfo, ModelRef } from '@/protocol'
import type { SessionState } from '@/session'
import { agentSwitch } from './content'

/** A model of a channel. */
export interface ModelPlace {
  readonly channelId: string
  readonly model: string
}

/** A model in use; without `info` it is listed nowhere, and nothing is known about it. */
export interface ModelInUse extends ModelPlace {
  readonly info: ModelInfo | null
}

/** Channels with models for a chat; the demo last once there is another one. */
export function chatChannels(channels: readonly ChannelModels[]): ChannelModels[] {
  return channels
    .map((channel) => ({ ...channel, models: channel.models.filter((model) => model.chat) }))
    .filter((channel) => channel.models.length > 0)
    .toSorted((a, b) => Number(a.supplier === 'demo') - Number(b.supplier === 'demo'))
}

export const placeKey = (place: ModelPlace): string => `${place.channelId}\n${place.model}`

/** The model of an agent, for sessions that do not choose another one. */
export function modelOfAgent(defaults: readonly AgentModel[], agentId: string | null): ModelPlace | null {
  const own = defaults.find((item) => item.agentId === agentId)
  return own ? { channelId: own.channelId, model: own.model } : null
}

/**
 * The model that a session names for its next answer; null if its agent decides. Another agent brings its own model,
 * unless one was chosen for the session.
 */
export function modelOfSession(state: SessionState, isSwitching: boolean): ModelRef | null {
  const { model, streaming, path, entries } = state
  let isSwitched = isSwitching
  if (streaming && !isSwitched) return model
  for (let at = path.length - 1; at >= 0; at--) {
    const entry = entries.get(path[at]!)
    if (!entry) return model
    if (entry.type === 'model_change') return { provider: entry.provider, modelId: entry.modelId }
    if (entry.type === 'custom' && agentSwitch(entry) !== null) isSwitched = true
    else if (!isSwitched && entry.type === 'message' && entry.message.role === 'assistant') return model
  }
  return isSwitched ? null : model
}

/** What is known about a model; sessions name its channel by id or by name. */
export function modelInUse(channels: readonly ChannelModels[], place: ModelPlace | null): ModelInUse | null {
  if (!place) return null
  const channel = channels.find(
    ({ channelId, channelName }) => channelId === place.channelId || channelName === place.channelId,
  )
  if (!channel) return { ...place, info: null }
  return {
    channelId: channel.channelId,
    model: place.model,
    info: channel.models.find((model) => model.name === place.model) ?? null,
  }
}

/** Models that can see images, those of the same channel first. */
export function seeingModels(channels: readonly ChannelModels[], inUse: ModelInUse, max: number): ModelPlace[] {
  const isSame = (channel: ChannelModels) => channel.channelId === inUse.channelId
  return chatChannels(channels)
    .filter((channel) => !channel.isAuxiliary && channel.supplier !== 'demo')
    .toSorted((a, b) => Number(isSame(b)) - Number(isSame(a)))
    .flatMap(({ channelId, models }) =>
      models.filter((model) => model.vision).map((model) => ({ channelId, model: model.name })),
    )
    .slice(0, max)
}
