import { expect, test } from 'vitest'
import type { Entry } from '@/protocol'
import { agentSwitch, sentAs } from './content'
import { nodeOf } from './node'

const custom = (customType: string, data?: unknown) =>
  ({
    type: 'custom',
    id: 'a',
    parentId: null,
    timestamp: '2026-11-16T09:00:00.000Z',
    customType,
    data,
  }) as Extract<Entry, { type: 'custom' }>

test('a switch to another agent goes by its name', () => {
  const named = custom('netaclaw.agent', { agentId: 'a1', agentName: 'reviewer', previousAgentId: 'a0' })
  expect(agentSwitch(named)).toBe('reviewer')
  expect(nodeOf(named, null)).toMatchObject({ role: 'notice', text: 'reviewer' })
  expect(agentSwitch(custom('netaclaw.agent', { agentId: 'a1', agentName: '' }))).toBe('a1')
  for (const odd of [
    custom('netaclaw.agent'),
    custom('netaclaw.agent', { agentName: 7 }),
    custom('netaclaw.todo', {}),
  ]) {
    expect(agentSwitch(odd)).toBeNull()
  }
})

test('a message that begins with a slash is sent with one more, unless it was a command', () => {
  const message = (netaclaw: object) =>
    ({
      type: 'message',
      id: 'a',
      parentId: null,
      timestamp: '2026-11-16T09:00:00.000Z',
      message: { role: 'user', content: '/x', timestamp: 0, netaclaw },
    }) as Entry
  const literal = message({ literal: true })
  expect(sentAs(literal, '/compact now')).toBe('//compact now')
  expect(sentAs(literal, '//host/share')).toBe('///host/share')
  expect(sentAs(literal, 'compact now')).toBe('compact now')
  expect(sentAs(message({}), '/skill folder-audit')).toBe('/skill folder-audit')
  expect(sentAs(undefined, '/skill folder-audit')).toBe('/skill folder-audit')
})
