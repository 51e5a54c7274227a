import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { SessionListItem } from '@/protocol'

/** The server's side, as the test plays it. */
const server = {
  asked: [] as { name: string; payload: unknown; then: (answer: unknown) => void }[],
  connect: () => {},
  tell: (_: string, __: unknown) => {},
}

vi.mock('@/socket', async (original) => ({
  ...(await original<object>()),
  createLink: (heard: { connected: () => void; notice: (name: string, payload: unknown) => void }) => {
    server.connect = heard.connected
    server.tell = heard.notice
    return {
      ask: (name: string, payload: unknown, then: (answer: unknown) => void) =>
        server.asked.push({ name, payload, then }),
      request: () => Promise.resolve({}),
    }
  },
}))

const { useSessions } = await import('./sessions')

const item = (sessionId: string, updatedAt: string, more: Partial<SessionListItem> = {}) =>
  ({ sessionId, updatedAt, status: 'active', ...more }) as SessionListItem
const page = (...items: SessionListItem[]) => ({ ok: true, items, page: 1, size: 50, total: items.length })
const changed = (sessions: SessionListItem[], removed: string[] = []) =>
  server.tell('session_list_changed', { data: { sessions, removed } })
const settled = () => new Promise((resolve) => setTimeout(resolve))

beforeEach(() => {
  setActivePinia(createPinia())
  server.asked = []
})

describe('the list of sessions', () => {
  test('watches on every connect and shows the first page', async () => {
    const sessions = useSessions()
    server.connect()
    expect(server.asked[0]).toMatchObject({
      name: 'sessions_watch',
      payload: { filter: { status: 'active' }, limit: 50 },
    })
    server.asked.shift()!.then(page(item('b', '2'), item('a', '1')))
    await settled()
    expect(sessions.items.map((one) => one.sessionId)).toEqual(['b', 'a'])
    changed([item('a', '3')], ['b'])
    expect(sessions.items.map((one) => one.sessionId)).toEqual(['a'])

    server.connect()
    server.asked.shift()!.then(page(item('c', '4')))
    await settled()
    expect(sessions.items.map((one) => one.sessionId)).toEqual(['c'])
  })

  test('keeps changes that arrive while the page is being fetched', async () => {
    const sessions = useSessions()
    server.connect()
    server.asked.shift()!.then(page(item('a', '1', { title: 'old' })))
    // In one packet with the answer, as long polling brings it.
    changed([item('a', '2', { title: 'new' })])
    await settled()
    expect(sessions.items.map((one) => one.title)).toEqual(['new'])
  })
})
