/** A channel as the editor's fields hold it. Pure: both ways, and what is wrong with it. */

import type {
  ChannelModel,
  ChannelSpec,
  ChannelView,
  ChannelWrite,
  ModelInfo,
  ModelPrice,
  Supplier,
  SupplierOption,
} from '@/protocol'
import { freeName, isName } from '../form/names'

export interface ChannelForm {
  name: string
  supplier: Supplier
  /** Empty: the supplier's own. */
  baseUrl: string
  models: ModelForm[]
  isAuxiliary: boolean
  enabled: boolean
  /** A new key; empty keeps the one that is there. */
  key: string
  clearsKey: boolean
}

/** Null and empty mean: as the catalogue says. */
export interface ModelForm {
  name: string
  contextWindow: number | null
  maxOutput: number | null
  vision: boolean | null
  tools: boolean | null
  thinking: boolean | null
  chat: boolean | null
  price: ModelPrice | null
}

export function blankChannel(supplier: SupplierOption, taken: readonly string[]): ChannelSpec {
  return {
    name: freeName(supplier.id, taken),
    supplier: supplier.id,
    baseUrl: null,
    models: bestFirst(supplier.models)
      .slice(0, MODELS_AT_FIRST)
      .map(({ name }) => ({ name })),
    isAuxiliary: false,
    status: 'enabled',
  }
}

/** Enough to choose from; more can be added. */
const MODELS_AT_FIRST = 3

/** Agents work with tools, so models that can use them come first. */
export const bestFirst = (models: readonly ModelInfo[]): ModelInfo[] =>
  models.toSorted((a, b) => Number(b.tools) - Number(a.tools))

export function specOf(channel: ChannelView): ChannelSpec {
  const { name, supplier, baseUrl, models, isAuxiliary, status } = channel
  return { name, supplier, baseUrl, models, isAuxiliary, status }
}

export function toForm(spec: ChannelSpec): ChannelForm {
  return {
    name: spec.name,
    supplier: spec.supplier,
    baseUrl: spec.baseUrl ?? '',
    models: spec.models.map(modelForm),
    isAuxiliary: spec.isAuxiliary,
    enabled: spec.status === 'enabled',
    key: '',
    clearsKey: false,
  }
}

/** What is sent. The key is named only if it changes. */
export function toWrite(form: ChannelForm): ChannelWrite {
  const key = form.key.trim()
  return {
    name: form.name.trim(),
    supplier: form.supplier,
    baseUrl: form.baseUrl.trim() || null,
    models: form.models.map(channelModel),
    isAuxiliary: form.isAuxiliary,
    status: form.enabled ? 'enabled' : 'disabled',
    ...(key !== '' ? { apiKey: key } : form.clearsKey ? { apiKey: null } : {}),
  }
}

export function modelForm(model: ChannelModel): ModelForm {
  return {
    name: model.name,
    contextWindow: model.contextWindow ?? null,
    maxOutput: model.maxOutput ?? null,
    vision: model.vision ?? null,
    tools: model.tools ?? null,
    thinking: model.thinking ?? null,
    chat: model.chat ?? null,
    price: model.price ?? null,
  }
}

function channelModel(form: ModelForm): ChannelModel {
  const model: ChannelModel = { name: form.name.trim() }
  if (form.contextWindow !== null) model.contextWindow = form.contextWindow
  if (form.maxOutput !== null) model.maxOutput = form.maxOutput
  if (form.vision !== null) model.vision = form.vision
  if (form.tools !== null) model.tools = form.tools
  if (form.thinking !== null) model.thinking = form.thinking
  if (form.chat !== null) model.chat = form.chat
  if (form.price !== null) model.price = form.price
  return model
}

/** The known capabilities of a model: from the channel, otherwise from the model catalog. */
export function shownModel(form: ModelForm, known: Partial<ModelInfo> | undefined): Partial<Omit<ModelInfo, 'source'>> {
  const { name, ...said } = form
  const set = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null))
  return { ...known, ...set, name }
}

/** What is wrong, by field: the key of the text that says so. */
export type ChannelProblems = Partial<Record<string, ChannelProblem>>
export type ChannelProblem =
  | 'nameNeeded'
  | 'nameForm'
  | 'addressNeeded'
  | 'addressForm'
  | 'addressSecret'
  | 'keyNeeded'
  | 'modelName'
  | 'modelTwice'

export function problems(form: ChannelForm, supplier: SupplierOption | undefined, hasKey: boolean): ChannelProblems {
  const found: ChannelProblems = {}
  if (form.name.trim() === '') found['name'] = 'nameNeeded'
  else if (!isName(form.name.trim())) found['name'] = 'nameForm'
  const address = addressProblem(form.baseUrl.trim(), supplier)
  if (address) found['baseUrl'] = address
  const keepsKey = hasKey && !form.clearsKey
  if (needsKey(form, supplier) && !keepsKey && form.key.trim() === '') found['apiKey'] = 'keyNeeded'
  const names = form.models.map((model) => model.name.trim())
  names.forEach((name, index) => {
    if (name === '') found[`models.${index}`] = 'modelName'
    else if (names.indexOf(name) < index) found[`models.${index}`] = 'modelTwice'
  })
  return found
}

/** A server of your own may need no key, and a disabled channel sends no requests. */
export function needsKey(form: ChannelForm, supplier: SupplierOption | undefined): boolean {
  if (!supplier?.needsKey || !form.enabled) return false
  return form.baseUrl.trim() === '' || !supplier.baseUrl
}

function addressProblem(address: string, supplier: SupplierOption | undefined): ChannelProblem | null {
  if (address === '') return supplier && !supplier.baseUrl && supplier.id !== 'demo' ? 'addressNeeded' : null
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url || !['http:', 'https:'].includes(url.protocol)) return 'addressForm'
  return url.username !== '' || url.password !== '' ? 'addressSecret' : null
}

/** Replaces the name and the models of the previous supplier, but keeps what the user typed. */
export function changeSupplier(
  form: ChannelForm,
  before: SupplierOption | undefined,
  to: SupplierOption,
  taken: readonly string[],
): void {
  const preset = before ? blankChannel(before, taken) : null
  const fresh = blankChannel(to, taken)
  if (form.name.trim() === '' || form.name === preset?.name) form.name = fresh.name
  const names = form.models.map((model) => model.name)
  const isPreset = preset !== null && names.join('\n') === preset.models.map((model) => model.name).join('\n')
  if (names.length === 0 || isPreset) form.models = fresh.models.map(modelForm)
  form.supplier = to.id
}
