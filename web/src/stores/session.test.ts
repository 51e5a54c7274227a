import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Opened, ServerEvent } from '@/protocol'
import { RECORDINGS } from '@/session/recordings'
import { LinkError } from '@/socket/link'

/** The server's side, as the test plays it. */
const server = {
  asked: [] as {
    name: string
    payload: Record<string, unknown>
    then: (answer: unknown) => void
    fail: (error: LinkError) => void
  }[],
  connect: () => {},
  tell: (_: ServerEvent) => {},
}

vi.mock('@/socket', async (original) => ({
  ...(await original<object>()),
  createLink: (heard: {
    state: (state: { state: string }) => void
    connected: () => void
    event: (event: ServerEvent) => void
  }) => {
    server.connect = () => {
      heard.state({ state: 'connected' })
      heard.connected()
    }
    server.tell = heard.event
    return {
      ask: (
        name: string,
        payload: Record<string, unknown>,
        then: (answer: unknown) => void,
        fail: (error: LinkError) => void,
      ) => server.asked.push({ name, payload, then, fail }),
      request: () => Promise.resolve({}),
    }
  },
}))
vi.mock('./frames', () => ({ atNextFrame: (then: () => void) => then() }))

const { useSession } = await import('./session')
const [, recording] = RECORDINGS.find(([name]) => name === 'plain')!
const id = recording.opened.snapshot!.session.sessionId

const answer = (opened: Partial<Opened>) => server.asked.shift()!.then({ ok: true, ...opened })

function opened() {
  const session = useSession()
  server.connect()
  session.open(id)
  answer(recording.opened)
  return session
}

beforeEach(() => {
  setActivePinia(createPinia())
  server.asked = []
})

describe('the open session', () => {
  test('is gone when it is deleted, also under an open page', () => {
    const session = opened()
    const { snapshot, epoch, seq } = recording.opened
    const update = {
      type: 'session_updated',
      data: { session: { ...snapshot!.session, status: 'deleted' } },
      sessionId: id,
      epoch,
      seq: seq + 1,
      ts: 1,
    }
    server.tell(update as ServerEvent)
    expect(session.phase).toBe('missing')
  })

  test('is asked for whole, and shown when it has come', () => {
    const session = useSession()
    server.connect()
    session.open(id)
    expect(session.phase).toBe('loading')
    expect(server.asked[0]).toMatchObject({ name: 'session_open', payload: { sessionId: id } })
    expect(server.asked[0]!.payload).not.toHaveProperty('lastSeq')
    answer(recording.opened)
    expect(session.phase).toBe('ready')
    expect(session.state?.seq).toBe(recording.opened.seq)
  })

  test('goes on from its last number after a lost connection', () => {
    const session = opened()
    recording.events.slice(0, 5).forEach(server.tell)
    const { seq, epoch } = session.state!
    server.connect()
    expect(server.asked[0]).toMatchObject({ name: 'session_open', payload: { sessionId: id, epoch, lastSeq: seq } })
    answer({ mode: 'replay', epoch, seq: recording.closed.seq })
    recording.events.forEach(server.tell)
    expect(session.state?.seq).toBe(recording.events.findLast((event) => typeof event.seq === 'number')!.seq)
    expect(session.state?.run.status).toBe('idle')
  })

  test('closes a gap, with one request at a time', () => {
    const session = opened()
    vi.useFakeTimers({ now: Date.now() + 60_000 })
    const numbered = recording.events.filter((event) => typeof event.seq === 'number')
    numbered.slice(1).forEach(server.tell)
    expect(server.asked).toHaveLength(1)
    expect(server.asked[0]!.payload).toMatchObject({ lastSeq: recording.opened.seq })
    answer({ mode: 'replay', epoch: recording.opened.epoch, seq: recording.closed.seq })
    recording.events.forEach(server.tell)
    expect(session.state?.wants).toBeNull()
    expect(session.state?.run.status).toBe('idle')
    vi.useRealTimers()
  })

  test('is taken whole again in another epoch', () => {
    const session = opened()
    vi.useFakeTimers({ now: Date.now() + 60_000 })
    server.tell({ ...recording.events[0]!, epoch: 'later' })
    expect(server.asked[0]!.payload).not.toHaveProperty('lastSeq')
    answer({ ...recording.closed, epoch: 'later', seq: 3 })
    expect(session.state).toMatchObject({ epoch: 'later', seq: 3, wants: null })
    vi.useRealTimers()
  })

  test('ignores events and late answers of another session', () => {
    const session = useSession()
    server.connect()
    session.open('another')
    const late = server.asked.shift()!
    session.open(id)
    expect(server.asked.map((asked) => asked.name)).toEqual(['session_close', 'session_open'])
    late.then({ ok: true, ...recording.closed })
    expect(session.state).toBeNull()
    server.tell({ ...recording.events[0]!, sessionId: 'another' })
    expect(session.state).toBeNull()
  })

  test('that does not exist is shown as missing', () => {
    const session = useSession()
    server.connect()
    session.open('gone')
    server.asked.shift()!.fail(new LinkError('not_found', 'no such session'))
    expect(session.phase).toBe('missing')
  })
})
