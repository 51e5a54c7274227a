/** From the demo model to a real one. Pure. */

import type { ChannelModel, ChannelModels, ChannelWrite, Supplier, SupplierOption } from '@/protocol'
import { bestFirst } from '../channels/form'
import { freeName } from '../form/names'

/** Suppliers in the order they are offered; the others follow. */
const ORDER: readonly Supplier[] = [
  'anthropic',
  'openai',
  'deepseek',
  'zhipu',
  'tongyi',
  'minimax',
  'volcengine',
  'ollama',
  'azure',
  'compatible',
]

export function offeredSuppliers(suppliers: readonly SupplierOption[]): SupplierOption[] {
  const rank = (supplier: SupplierOption) => (ORDER.indexOf(supplier.id) + ORDER.length + 1) % (ORDER.length + 1)
  return suppliers.filter((supplier) => supplier.id !== 'demo').toSorted((a, b) => rank(a) - rank(b))
}

/** Whether nothing but the demo model answers here. */
export const isDemoOnly = (channels: readonly ChannelModels[]): boolean =>
  channels.length > 0 && channels.every((channel) => channel.supplier === 'demo')

/** Models to choose from: well-known ones that the supplier has first, then what else it has. */
export function offeredModels(supplier: SupplierOption, found: readonly string[]): string[] {
  const known = bestFirst(supplier.models).map((model) => model.name)
  if (found.length === 0) return known
  const further = found
    .filter((name) => !known.includes(name))
    .toSorted((a, b) => Number(isSpecial(a)) - Number(isSpecial(b)))
  return [...known.filter((name) => found.includes(name)), ...further]
}

/** These are not chat models. */
const isSpecial = (model: string): boolean =>
  /embed|rerank|whisper|transcri|tts|speech|moderation|dall-e|image/i.test(model)

const MODELS_MAX = 8

/** The channel to be made, with the chosen model first. */
export function channelFor(
  supplier: SupplierOption,
  fields: { baseUrl: string; key: string },
  model: string,
  offered: readonly string[],
  taken: readonly string[],
): ChannelWrite {
  const known = new Set(supplier.models.map(({ name }) => name))
  const further = offered.filter((name) => name !== model && (known.has(name) || known.size === 0))
  const models: ChannelModel[] = [model, ...further]
    .filter((name) => name !== '')
    .slice(0, MODELS_MAX)
    .map((name) => ({ name }))
  const key = fields.key.trim()
  return {
    name: freeName(supplier.id, taken),
    supplier: supplier.id,
    baseUrl: fields.baseUrl.trim() || null,
    models,
    isAuxiliary: false,
    status: 'enabled',
    ...(key === '' ? {} : { apiKey: key }),
  }
}
