import { expect, test } from 'vitest'
import type { SkillView } from '@/protocol'
import { agentSkills } from './skills'

const skill = (name: string, state: SkillView['state']): SkillView =>
  ({ name, state, description: '', source: 'data', isExecutable: false }) as SkillView

test('what is chosen in the editor decides, and only the server knows how a newly chosen one stands', () => {
  const skills = [skill('b', 'ready'), skill('a', 'not_chosen'), skill('c', 'invalid'), skill('d', 'shadowed')]
  const states = (chosen: string[]) => agentSkills(skills, chosen).map(({ skill, state }) => `${skill.name} ${state}`)
  expect(states([])).toEqual(['a after_save', 'b ready', 'c invalid'])
  expect(states(['b', 'no such skill'])).toEqual(['a not_chosen', 'b ready', 'c not_chosen'])
})
