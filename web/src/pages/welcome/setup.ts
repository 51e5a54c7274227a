/** From the demo model to a real one. Pure. */

import type { ChannelModel, ChannelModels, ChannelWrite, ModelInfo, Supplier, SupplierOption } from '@/protocol'
import { bestFirst } from '../channels/form'
import { freeName } from '../form/names'

/** Suppliers in the order they are offered; the others follow. */
const ORDER: readonly Supplier[] = [
  'anthropic',
  'openai',
  'gemini',
  'deepseek',
  'moonshot',
  'zhipu',
  'tongyi',
  'minimax',
  'volcengine',
  'siliconflow',
  'openrouter',
  'xai',
  'mistral',
  'ollama',
  'lmstudio',
  'vllm',
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

/** Models to choose from: those that are known to work with tools first, unknown ones last, and none that cannot chat. */
export function offeredModels(supplier: SupplierOption, found: readonly ModelInfo[]): string[] {
  const usual = bestFirst(supplier.models)
  if (found.length === 0) return usual.map((model) => model.name)
  const rank = (model: ModelInfo) => {
    const at = usual.findIndex((other) => other.name === model.name)
    if (at >= 0) return at
    return usual.length + (model.source === 'guess' ? 2 : model.tools ? 0 : 1)
  }
  return found
    .filter((model) => model.chat)
    .toSorted((a, b) => rank(a) - rank(b))
    .map((model) => model.name)
}

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
