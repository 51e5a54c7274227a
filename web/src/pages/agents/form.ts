/** An agent as the editor's fields hold it. Pure: both ways, and what is wrong with it. */

import type {
  Agent,
  AgentSpec,
  ApprovalMode,
  JsonValue,
  MissingSandbox,
  ThinkingLevel,
  ToolOverride,
  ToolRisk,
} from '@/protocol'
import { isName } from '../form/names'

export interface AgentForm {
  name: string
  label: string
  description: string
  systemPrompt: string
  /** Empty: that of the session. */
  workspace: string
  /** One directory a line. */
  extraRoots: string
  sessionProvider: string
  isDefault: boolean
  /** Empty where nothing is chosen, as for all ids here. */
  channelId: string
  model: string
  temperature: number | null
  maxTokens: number | null
  thinkLevel: ThinkingLevel
  fallbackChannelId: string
  fallbackModel: string
  compactionThreshold: number
  compactionKeepRecent: number
  auxiliaryChannelId: string
  auxiliaryModel: string
  /** Names; none is all there are. */
  skills: string[]
  mcpServers: string[]
  approval: ApprovalMode
  /** One host a line. */
  allowedHosts: string
  sandboxMissing: MissingSandbox
  sandboxNetwork: boolean
  /** By name, or by a pattern; what is absent follows its default. */
  tools: Record<string, 'on' | 'off'>
  overrides: Record<string, OverrideForm>
}

export interface OverrideForm {
  description: string
  risk: ToolRisk | ''
  timeoutSeconds: number | null
  approval: ApprovalMode | ''
  /** A JSON object, or empty. */
  arguments: string
}

export const THINK_LEVELS = [
  'off',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
] as const satisfies readonly ThinkingLevel[]
export const APPROVALS = ['never', 'risky', 'always'] as const satisfies readonly ApprovalMode[]
export const MISSING_SANDBOX = ['refuse', 'warn'] as const satisfies readonly MissingSandbox[]
export const RISKS = ['read', 'write', 'exec', 'network', 'delegate'] as const satisfies readonly ToolRisk[]

/** The server's defaults for a new agent. */
export function blankAgent(): AgentSpec {
  return {
    name: '',
    label: '',
    description: '',
    systemPrompt: '',
    modelConfig: {
      channelId: null,
      model: null,
      temperature: null,
      maxTokens: null,
      thinkLevel: 'off',
      fallback: null,
    },
    tools: { enabled: [], disabled: [] },
    toolOverrides: {},
    subagentConfig: { allowedToolNames: null },
    skills: [],
    mcpServers: [],
    workspace: null,
    extraRoots: [],
    approval: 'risky',
    allowedHosts: [],
    sandbox: { missing: 'refuse', network: false },
    isCrewMaster: false,
    sessionProvider: 'file',
    compactionThreshold: 70,
    compactionKeepRecent: 4,
    auxiliaryModelChannelId: null,
    auxiliaryModelId: null,
    isDefault: false,
  }
}

export function specOf(agent: Agent): AgentSpec {
  const { id: _id, rev: _rev, createdAt: _created, updatedAt: _updated, ...spec } = agent
  return spec
}

/** A copy to begin another agent with. There is one default only. */
export const copyOf = (spec: AgentSpec, name: string): AgentSpec => ({ ...spec, name, isDefault: false })

export function toForm(spec: AgentSpec): AgentForm {
  const { modelConfig: config } = spec
  return {
    name: spec.name,
    label: spec.label,
    description: spec.description,
    systemPrompt: spec.systemPrompt,
    workspace: spec.workspace ?? '',
    extraRoots: spec.extraRoots.join('\n'),
    sessionProvider: spec.sessionProvider,
    isDefault: spec.isDefault,
    channelId: config.channelId ?? '',
    model: config.model ?? '',
    temperature: config.temperature,
    maxTokens: config.maxTokens,
    thinkLevel: config.thinkLevel,
    fallbackChannelId: config.fallback?.channelId ?? '',
    fallbackModel: config.fallback?.model ?? '',
    compactionThreshold: spec.compactionThreshold,
    compactionKeepRecent: spec.compactionKeepRecent,
    auxiliaryChannelId: spec.auxiliaryModelChannelId ?? '',
    auxiliaryModel: spec.auxiliaryModelId ?? '',
    skills: [...spec.skills],
    mcpServers: [...spec.mcpServers],
    approval: spec.approval,
    allowedHosts: spec.allowedHosts.join('\n'),
    sandboxMissing: spec.sandbox.missing,
    sandboxNetwork: spec.sandbox.network,
    tools: Object.fromEntries([
      ...spec.tools.enabled.map((name) => [name, 'on'] as const),
      ...spec.tools.disabled.map((name) => [name, 'off'] as const),
    ]),
    overrides: Object.fromEntries(
      Object.entries(spec.toolOverrides).map(([name, change]) => [name, overrideForm(change)]),
    ),
  }
}

/** The agent that the fields describe. What they do not show is as in `base`. */
export function toSpec(form: AgentForm, base: AgentSpec): AgentSpec {
  return {
    ...base,
    name: form.name.trim(),
    label: form.label.trim(),
    description: form.description.trim(),
    systemPrompt: form.systemPrompt,
    workspace: filled(form.workspace),
    extraRoots: lines(form.extraRoots),
    sessionProvider: form.sessionProvider,
    isDefault: form.isDefault,
    modelConfig: {
      ...base.modelConfig,
      channelId: filled(form.channelId),
      // A model belongs to a channel: without one there is nothing to choose from.
      model: form.channelId === '' ? null : filled(form.model),
      temperature: form.temperature,
      maxTokens: form.maxTokens,
      thinkLevel: form.thinkLevel,
      fallback:
        form.fallbackChannelId === '' ? null : { channelId: form.fallbackChannelId, model: filled(form.fallbackModel) },
    },
    compactionThreshold: form.compactionThreshold,
    compactionKeepRecent: form.compactionKeepRecent,
    auxiliaryModelChannelId: filled(form.auxiliaryChannelId),
    auxiliaryModelId: form.auxiliaryChannelId === '' ? null : filled(form.auxiliaryModel),
    skills: trimmed(form.skills),
    mcpServers: trimmed(form.mcpServers),
    approval: form.approval,
    allowedHosts: trimmed(lines(form.allowedHosts)),
    sandbox: { missing: form.sandboxMissing, network: form.sandboxNetwork },
    tools: { enabled: named(form, 'on', base.tools.enabled), disabled: named(form, 'off', base.tools.disabled) },
    toolOverrides: overrides(form, base),
  }
}

/** What is wrong, by field: the key of the text that says so. */
export type AgentProblems = Partial<Record<string, AgentProblem>>
export type AgentProblem = 'nameNeeded' | 'nameForm' | 'notAbsolute' | 'notHosts' | 'notJson'

export function problems(form: AgentForm): AgentProblems {
  const found: AgentProblems = {}
  if (form.name.trim() === '') found['name'] = 'nameNeeded'
  else if (!isName(form.name.trim())) found['name'] = 'nameForm'
  if (form.workspace.trim() !== '' && !isAbsolute(form.workspace.trim())) found['workspace'] = 'notAbsolute'
  if (!lines(form.extraRoots).every(isAbsolute)) found['extraRoots'] = 'notAbsolute'
  if (!lines(form.allowedHosts).every(isHostRule)) found['allowedHosts'] = 'notHosts'
  for (const [name, change] of Object.entries(form.overrides)) {
    if (argumentsOf(change.arguments) === null) found[`toolOverrides.${name}.arguments`] = 'notJson'
  }
  return found
}

export const blankOverride = (): OverrideForm => ({
  description: '',
  risk: '',
  timeoutSeconds: null,
  approval: '',
  arguments: '',
})

export const isBlankOverride = (change: OverrideForm): boolean =>
  change.description.trim() === '' &&
  change.risk === '' &&
  change.timeoutSeconds === null &&
  change.approval === '' &&
  change.arguments.trim() === ''

function overrideForm(change: ToolOverride): OverrideForm {
  return {
    description: change.description ?? '',
    risk: change.risk ?? '',
    timeoutSeconds: change.timeoutMs === null ? null : change.timeoutMs / 1000,
    approval: change.approval ?? '',
    arguments: Object.keys(change.arguments).length === 0 ? '' : JSON.stringify(change.arguments, null, 2),
  }
}

function overrides(form: AgentForm, base: AgentSpec): AgentSpec['toolOverrides'] {
  const entries = Object.entries(form.overrides)
    .filter(([name, change]) => !isBlankOverride(change) || isEmpty(base.toolOverrides[name]))
    .map(([name, change]): [string, ToolOverride] => [
      name,
      {
        description: filled(change.description),
        risk: change.risk || null,
        timeoutMs: change.timeoutSeconds === null ? null : Math.round(change.timeoutSeconds * 1000),
        approval: change.approval || null,
        arguments: argumentsOf(change.arguments) ?? {},
      },
    ])
  return Object.fromEntries(entries)
}

/** One that says nothing was there before, so it is not for us to take it away. */
const isEmpty = (change: ToolOverride | undefined): boolean =>
  change !== undefined && isBlankOverride(overrideForm(change))

/** Null if the text is no JSON object. */
function argumentsOf(text: string): { [key in string]: JsonValue } | null {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as { [key in string]: JsonValue })
      : null
  } catch {
    return null
  }
}

/** In the order they had, with new ones behind: the order says nothing and so should not change. */
function named(form: AgentForm, state: 'on' | 'off', before: readonly string[]): string[] {
  const now = Object.keys(form.tools).filter((name) => form.tools[name] === state)
  return [...before.filter((name) => now.includes(name)), ...now.filter((name) => !before.includes(name))]
}

/** Names as they were typed, each once. */
const trimmed = (names: readonly string[]): string[] => [
  ...new Set(names.map((name) => name.trim()).filter((name) => name !== '')),
]

const filled = (text: string): string | null => text.trim() || null

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** The server looks more closely; this is for what is clearly none, such as a whole address. */
const isHostRule = (rule: string): boolean =>
  /^(https?:\/\/)?(\*\.)?([^\s/\\?#@%*:]+|\[[0-9a-f:.]+\])(:\d{1,5})?\/?$/i.test(rule)

const isAbsolute = (path: string): boolean => /^(\/|~$|~\/|[a-z]:[\\/])/i.test(path)
