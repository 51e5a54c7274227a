import type { AgentBrief, Memory } from '@/protocol'

/** As many as the server takes. */
export const CHARS_MAX = 500

/** All facts, those for all agents, or those of one. */
export type AgentFilter = 'all' | 'shared' | (string & {})

export function visibleFacts(facts: readonly Memory[], agent: AgentFilter): readonly Memory[] {
  if (agent === 'all') return facts
  return facts.filter((fact) => (agent === 'shared' ? fact.agentId === null : fact.agentId === agent))
}

/** Those that wait for the user, and those that agents know. */
export function byStatus(facts: readonly Memory[]): { pending: readonly Memory[]; confirmed: readonly Memory[] } {
  const pending = facts.filter((fact) => fact.status === 'pending')
  return { pending, confirmed: facts.filter((fact) => !pending.includes(fact)) }
}

/** Whose fact it is; null if it is for all agents. */
export function agentName(fact: Memory, agents: readonly AgentBrief[]): string | null {
  if (fact.agentId === null) return null
  const agent = agents.find((agent) => agent.id === fact.agentId)
  return agent ? agent.label || agent.name : fact.agentId
}

/** The server counts characters, not the halves of them that JavaScript counts. */
export const charsLeft = (text: string): number => CHARS_MAX - [...text.trim()].length
