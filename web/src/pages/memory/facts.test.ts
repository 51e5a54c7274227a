import { expect, test } from 'vitest'
import type { AgentBrief, Memory } from '@/protocol'
import { agentName, byStatus, charsLeft, visibleFacts } from './facts'

const fact = (id: string, agentId: string | null): Memory => ({
  id,
  userId: 'u',
  agentId,
  text: id,
  author: 'agent',
  status: 'confirmed',
  rev: 1,
  createdAt: 0,
  updatedAt: 0,
})

const agent = (id: string, label: string): AgentBrief => ({ id, name: id, label, description: '', isDefault: false })

test('facts are those of one agent, of all agents, or all there are', () => {
  const facts = [fact('a', 'x'), fact('b', null), fact('c', 'y')]
  const ids = (filter: string) => visibleFacts(facts, filter).map(({ id }) => id)
  expect(ids('all')).toEqual(['a', 'b', 'c'])
  expect(ids('shared')).toEqual(['b'])
  expect(ids('y')).toEqual(['c'])
})

test('what waits for the user is apart from what agents know', () => {
  const pending = { ...fact('p', 'x'), status: 'pending' as const, sessionId: 's' }
  const { pending: waits, confirmed } = byStatus([pending, fact('a', 'x'), fact('b', null)])
  expect([waits.map(({ id }) => id), confirmed.map(({ id }) => id)]).toEqual([['p'], ['a', 'b']])
})

test('an agent is called by its label, its name, or what is known of it', () => {
  const agents = [agent('x', 'Helper'), agent('y', '')]
  expect(agentName(fact('a', 'x'), agents)).toBe('Helper')
  expect(agentName(fact('a', 'y'), agents)).toBe('y')
  expect(agentName(fact('a', 'gone'), agents)).toBe('gone')
  expect(agentName(fact('a', null), agents)).toBeNull()
})

test('an emoji is one character', () => {
  expect(charsLeft(' 🍵 ')).toBe(499)
  expect(charsLeft('长'.repeat(501))).toBe(-1)
})
