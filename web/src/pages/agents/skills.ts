/** The skills of an agent as its editor shows them. Pure. */

import type { SkillView } from '@/protocol'

/** How a skill stands with the agent as it is in the editor; `after_save` is what only the server can tell. */
export type AgentSkillState = SkillView['state'] | 'after_save'

export interface AgentSkill {
  readonly skill: SkillView
  readonly state: AgentSkillState
}

/** The skills that can be chosen. Names that were chosen and are no skill are left to the field. */
export function agentSkills(skills: readonly SkillView[], chosen: readonly string[]): readonly AgentSkill[] {
  return skills
    .filter((skill) => skill.state !== 'shadowed')
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map((skill) => ({ skill, state: stateOf(skill, chosen.length === 0 || chosen.includes(skill.name)) }))
}

function stateOf({ state }: SkillView, isChosen: boolean): AgentSkillState {
  if (!isChosen) return 'not_chosen'
  return state === 'not_chosen' ? 'after_save' : state
}
