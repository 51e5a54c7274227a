/** The tools of an agent, as its page shows them. Pure. */

import type { AgentSpec, EffectiveTools, ToolCategory, ToolDiagnostic } from '@/protocol'
import type { AgentForm } from './form'

export interface ToolGroup {
  category: ToolCategory
  tools: readonly ToolDiagnostic[]
}

const ORDER: readonly ToolCategory[] = ['files', 'shell', 'web', 'session', 'memory', 'skills', 'agents', 'external']

/** Tools of one category together, in the catalogue's order. */
export function toolGroups(tools: EffectiveTools): ToolGroup[] {
  return ORDER.map((category) => ({
    category,
    tools: tools.runtimeDiagnostic.filter((tool) => tool.category === category),
  })).filter((group) => group.tools.length > 0)
}

/** Names and patterns in the form that are no tool's: they may wait for tools that come and go, or be mistakes. */
export function strangers(form: AgentForm, tools: EffectiveTools): string[] {
  const known = new Set(tools.runtimeDiagnostic.map((tool) => tool.toolName))
  return [...new Set([...Object.keys(form.tools), ...Object.keys(form.overrides)])].filter((name) => !known.has(name))
}

export type ToolSetting = 'default' | 'on' | 'off'

export const settingOf = (form: AgentForm, name: string): ToolSetting => form.tools[name] ?? 'default'

export function setTool(form: AgentForm, name: string, setting: ToolSetting): void {
  if (setting === 'default') delete form.tools[name]
  else form.tools[name] = setting
}

/** Another model or seat than the agent's own; empty is its own. */
export interface WhatIf {
  seat: 'main' | 'subagent'
  channelId: string
  model: string
}

/** The agent as it would be with that model. */
export function supposed(spec: AgentSpec, { channelId, model }: WhatIf): AgentSpec {
  if (channelId === '') return spec
  return { ...spec, modelConfig: { ...spec.modelConfig, channelId, model: model || null } }
}
