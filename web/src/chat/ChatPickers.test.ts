import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { VueWrapper } from '@vue/test-utils'
import { nextTick } from 'vue'
import type { AgentBrief, ChannelModels, Entry, ModelInfo } from '@/protocol'
import { fromSnapshot, type SessionState } from '@/session'
import { RECORDINGS } from '@/session/recordings'
import { useCatalogue, useSession } from '@/stores'
import ControlPicker from '@/ui/control/ControlPicker.vue'
import { show } from '@/ui/testing'
import ChatPickers from './ChatPickers.vue'

vi.mock('@/socket', async (original) => ({
  ...(await original<object>()),
  createLink: () => ({ ask: () => {}, request: () => Promise.resolve({}) }),
}))

const plain = fromSnapshot(RECORDINGS.find(([name]) => name === 'plain')![1].closed, null, 0)

const agent = (id: string, more: Partial<AgentBrief> = {}): AgentBrief => ({
  id,
  name: id,
  label: '',
  description: '',
  isDefault: false,
  ...more,
})
const info = (name: string): ModelInfo => ({
  name,
  contextWindow: 1,
  maxOutput: 1,
  vision: false,
  tools: true,
  thinking: true,
  chat: true,
  source: 'catalogue',
})
const channel = (id: string, ...models: string[]): ChannelModels => ({
  channelId: id,
  channelName: `Channel ${id}`,
  supplier: 'openai',
  isAuxiliary: false,
  models: models.map(info),
})

let page: VueWrapper
beforeEach(() => {
  setActivePinia(createPinia())
  const catalogue = useCatalogue()
  catalogue.agents = [agent('general', { isDefault: true }), agent('writer', { label: 'Writer' })]
  catalogue.models = [channel('c1', 'large', 'small')]
  catalogue.defaults = [
    { agentId: 'general', channelId: 'c1', channelName: 'Channel c1', model: 'small' },
    { agentId: 'writer', channelId: 'c1', channelName: 'Channel c1', model: 'large' },
  ]
})
afterEach(() => page.unmount())

function open(changes: Partial<SessionState>) {
  const session = useSession()
  session.open(plain.sessionId)
  session.state = { ...plain, meta: { ...plain.meta, agentId: 'general' }, thinkingLevel: 'off', ...changes }
  session.phase = 'ready'
  page = show(ChatPickers, {})
  return session
}

const picker = (label: string) => page.findAllComponents(ControlPicker).find((found) => found.props('label') === label)!
const shown = (label: string) => picker(label).get('button').text()

async function options(label: string): Promise<string[]> {
  await picker(label).get('button').trigger('click')
  const texts = picker(label)
    .findAll('[role=option]')
    .map((option) => option.text())
  await picker(label).get('button').trigger('click')
  return texts
}

describe('the model', () => {
  test('of the agent is shown before the first answer', () => {
    open({ model: null })
    expect(shown('Model')).toBe('small')
  })

  test('that no channel lists any more is shown, and said to be so', async () => {
    open({ model: { provider: 'c1', modelId: 'retired' } })
    expect(shown('Model')).toBe('retired')
    expect(await options('Model')).toEqual(['retiredno longer in the list', 'large', 'small'])
  })

  test('of a channel that is gone is shown as well', async () => {
    open({ model: { provider: 'gone', modelId: 'small' } })
    expect(shown('Model')).toBe('small')
    expect(await options('Model')).toEqual(['smallno longer in the list', 'large', 'small'])
  })

  test('of a list is there once', async () => {
    open({ model: { provider: 'Channel c1', modelId: 'large' } })
    expect(shown('Model')).toBe('large')
    expect(await options('Model')).toEqual(['large', 'small'])
  })
})

describe('the model of another agent', () => {
  const after = (...added: object[]): Partial<SessionState> => {
    const entries = added.map((entry, at) => ({ id: `x${at}`, parentId: null, timestamp: '', ...entry }) as Entry)
    return {
      model: { provider: 'c1', modelId: 'small' },
      entries: plain.entries.withAll(entries.map((entry) => [entry.id, entry] as const)),
      path: [...plain.path, ...entries.map(({ id }) => id)],
    }
  }
  const chosen = { type: 'model_change', provider: 'c1', modelId: 'small' }
  const switched = { type: 'custom', customType: 'netaclaw.agent', data: { agentId: 'writer', agentName: 'writer' } }

  test('is shown while it is chosen for the next message', async () => {
    const session = open(after())
    expect(shown('Model')).toBe('small')
    session.chooseAgent('writer')
    await nextTick()
    expect(shown('Model')).toBe('large')
  })

  test('is shown between the switch and its first answer', () => {
    open({ ...after(switched), meta: { ...plain.meta, agentId: 'writer' } })
    expect(shown('Model')).toBe('large')
  })

  test('is not shown if a model was chosen for the session', async () => {
    const session = open(after(chosen))
    session.chooseAgent('writer')
    await nextTick()
    expect(shown('Model')).toBe('small')
  })
})

describe('thinking', () => {
  /** A session whose last answer has thinking in it. */
  function thought(): Partial<SessionState> {
    const id = plain.path.at(-1)!
    const entry = structuredClone(plain.entries.get(id)!)
    if (entry.type !== 'message' || entry.message.role !== 'assistant') throw new Error('the last entry is no answer')
    entry.message.content.unshift({ type: 'thinking', thinking: 'Well.' } as (typeof entry.message.content)[number])
    return { entries: plain.entries.with(id, entry) }
  }

  test('that is off is off', () => {
    open({})
    expect(shown('Thinking level')).toBe('Off')
  })

  test('is not said to be off while the model thinks', async () => {
    open(thought())
    expect(shown('Thinking level')).toBe('Set by the model')
    expect((await options('Thinking level'))[0]).toContain('This model thinks although the level is “Off”')
  })

  test('that is not off is as it was chosen', () => {
    open({ ...thought(), thinkingLevel: 'high' })
    expect(shown('Thinking level')).toBe('High')
  })

  test('is seen in the answer under way as well', () => {
    const part = { part: 0, kind: 'thinking', toolCallId: null, toolName: null, done: false } as const
    const streaming = {
      ...{ runId: 'r', entryId: 'a', parentId: plain.path.at(-1)!, provider: 'c1', model: 'small', startedAt: 0 },
      parts: [{ ...part, text: { length: 0, pieces: [] } as never, startedAt: 0, durationMs: null }],
    }
    open({ streaming })
    expect(shown('Thinking level')).toBe('Set by the model')
  })
})

describe('the agent', () => {
  test('of a session can be changed from the next message on', async () => {
    const session = open({})
    expect(shown('Agent')).toBe('general')
    await picker('Agent').get('button').trigger('click')
    await picker('Agent').findAll('[role=option]')[1]!.trigger('click')
    expect(session.nextAgentId).toBe('writer')
    expect(session.agentId).toBe('writer')
    expect(shown('Agent')).toBe('Writer')
    expect(useCatalogue().agentForNew?.id).toBe('general')
  })

  test('that a session has already is no change', async () => {
    const session = open({})
    session.chooseAgent('writer')
    session.chooseAgent('general')
    expect(session.nextAgentId).toBeNull()
  })

  test('is not chosen any more once the server has changed it, or in another session', () => {
    const session = open({})
    session.chooseAgent('writer')
    session.state = { ...session.state!, meta: { ...session.state!.meta, title: 'Another' } }
    expect(session.nextAgentId).toBe('writer')
    session.state = { ...session.state, meta: { ...session.state.meta, agentId: 'third' } }
    expect(session.nextAgentId).toBeNull()
    session.chooseAgent('writer')
    session.open('another')
    expect(session.nextAgentId).toBeNull()
  })

  test('of a session that names none is the default one, and says why', async () => {
    open({ meta: { ...plain.meta, agentId: null } })
    expect(shown('Agent')).toBe('general')
    expect((await options('Agent'))[0]).toContain('This session names no agent')
  })

  test('that was deleted is shown as deleted', () => {
    open({ meta: { ...plain.meta, agentId: 'gone' } })
    expect(shown('Agent')).toBe('Deleted agent')
  })
})
