import { expect, test } from 'vitest'
import type { Agent, DictType } from '@/protocol'
import { blankAgent } from '../agents/form'
import { channelUsers } from './users'

const stamp = { rev: 1, createdAt: 0, updatedAt: 0 }
const agent = (name: string, change: Partial<Agent>): Agent => ({
  ...blankAgent(),
  id: name,
  name,
  ...stamp,
  ...change,
})

test('a channel is used by agents in three ways, and by settings', () => {
  const config = blankAgent().modelConfig
  const agents = [
    agent('a', { label: '甲', modelConfig: { ...config, channelId: 'c' } }),
    agent('b', { modelConfig: { ...config, channelId: 'd', fallback: { channelId: 'c', model: null } } }),
    agent('e', { auxiliaryModelChannelId: 'c' }),
    agent('f', {}),
  ]
  const entry = { id: 'i', typeId: 't', name: 'auxiliary_channel_id', value: 'c', orderNum: 0, remark: '', ...stamp }
  const dictionary: DictType[] = [{ id: 't', key: 'netaclaw', name: 'NetaClaw', entries: [entry], ...stamp }]
  expect(channelUsers('c', agents, dictionary)).toEqual([
    { kind: 'agent', name: '甲' },
    { kind: 'fallback', name: 'b' },
    { kind: 'auxiliary', name: 'e' },
    { kind: 'setting', name: 'netaclaw.auxiliary_channel_id' },
  ])
  expect(channelUsers('x', agents, dictionary)).toEqual([])
})
