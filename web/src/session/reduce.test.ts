import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ServerEvent } from '@/protocol'
import { fromSnapshot, reduce, withoutWants, type SessionState } from '.'
import { RECORDINGS, type Recording } from './recordings'

const NOW = 0

/** Everything a page shows, in a form that can be compared; numbers of events aside. */
function shown(state: SessionState) {
  const { entries, tree, tools, lastActivity, runStartedAt, done, errors, ...rest } = state
  // Counters that only lists show, and lists ask for them.
  const { messageCount, leafEntryId, updatedAt, ...meta } = state.meta
  return {
    ...rest,
    meta,
    tokens: state.tokens.current,
    entries: state.path.map((id) => entries.get(id)),
    tools: new Map(tools),
  }
}

const start = ({ opened }: Recording) => fromSnapshot(opened, null, NOW)
const play = (state: SessionState, events: readonly ServerEvent[]) => events.reduce(reduce, state)

/** The state after the first `count` events, heard without a disturbance. */
function undisturbed(recording: Recording, count: number): SessionState {
  return play(start(recording), recording.events.slice(0, count))
}

/** What the server sends to a client that comes back: what it missed, and open text in full. */
function resync(recording: Recording, heard: number, state: SessionState): ServerEvent[] {
  const now = undisturbed(recording, heard)
  const missed = recording.events.slice(0, heard).filter((event) => (event.seq ?? 0) > state.seq)
  const stamp = { sessionId: state.sessionId, epoch: state.epoch, ts: NOW }
  const answer = now.streaming
  const text: ServerEvent[] = (answer?.parts ?? []).map((part) => ({
    ...stamp,
    type: 'assistant_stream_delta',
    data: {
      runId: answer!.runId,
      entryId: answer!.entryId,
      part: part.part,
      kind: part.kind,
      offset: 0,
      text: part.text.text,
    },
  }))
  return [...missed, ...text]
}

/** What happens to each event on its way. */
const fate = fc.constantFrom('arrives', 'arrives', 'arrives', 'twice', 'lost', 'late')
const fates = fc.array(fate, { minLength: 1, maxLength: 200 })

/** A client on a bad line: events are lost, doubled and late, and what it asks for is sent. */
function disturbed(recording: Recording, luck: readonly string[]): SessionState {
  let state = start(recording)
  let late: ServerEvent | null = null
  const hear = (event: ServerEvent, heard: number) => {
    state = reduce(state, event)
    if (state.wants !== null) state = play(withoutWants(state), resync(recording, heard, state))
    expect(state.wants).toBeNull()
  }
  recording.events.forEach((event, at) => {
    const what = luck[at % luck.length]
    if (what === 'lost') return
    if (what === 'late' && late === null) {
      late = event
      return
    }
    hear(event, at + 1)
    if (what === 'twice') hear(event, at + 1)
    if (late) hear(late, at + 1)
    late = null
  })
  // At the latest when it looks again, such as when its tab becomes visible.
  return play(state, resync(recording, recording.events.length, state))
}

describe.each(RECORDINGS)('%s', (_, recording) => {
  test('the events lead from the first snapshot to the last', () => {
    const arrived = undisturbed(recording, recording.events.length)
    expect(arrived.wants).toBeNull()
    expect(shown(arrived)).toEqual(shown(fromSnapshot(recording.closed, null, NOW)))
  })

  test('every event a second time changes nothing', () => {
    let state = start(recording)
    for (const event of recording.events) {
      state = reduce(state, event)
      expect(reduce(state, event)).toBe(state)
    }
    expect(play(state, recording.events)).toBe(state)
  })

  test('a client that joins anywhere in the middle ends the same', () => {
    const { events } = recording
    for (let at = 0; at <= events.length; at += 7) {
      const begun = play(start(recording), resync(recording, at, start(recording)))
      expect(shown(play(begun, events.slice(at)))).toEqual(shown(undisturbed(recording, events.length)))
    }
  })

  test('losses, doubles and delays heal', () => {
    const expected = shown(undisturbed(recording, recording.events.length))
    fc.assert(
      fc.property(fates, (luck) => {
        expect(shown(disturbed(recording, luck))).toEqual(expected)
      }),
      { numRuns: 30 },
    )
  })

  test('nothing is changed in place', () => {
    const before = start(recording)
    const copy = structuredClone({ ...before, tree: null, entries: null })
    play(before, recording.events)
    expect({ ...before, tree: null, entries: null }).toEqual(copy)
  })
})

describe('order', () => {
  const [, recording] = RECORDINGS.find(([name]) => name === 'plain')!
  const state = start(recording)
  const numbered = recording.events.filter((event) => typeof event.seq === 'number')

  test('a number too far asks for a replay and is not applied', () => {
    const far = reduce(state, numbered[1]!)
    expect(far).toEqual({ ...state, wants: 'replay' })
    expect(reduce(withoutWants(far), numbered[0]!).seq).toBe(state.seq + 1)
  })

  test('another epoch asks for a snapshot', () => {
    expect(reduce(state, { ...numbered[0]!, epoch: 'other' }).wants).toBe('snapshot')
  })

  test('another session is none of its business', () => {
    expect(reduce(state, { ...numbered[0]!, sessionId: 'other' })).toBe(state)
  })

  test('text with a gap before it asks for a replay', () => {
    const streaming = play(state, numbered.slice(0, 3))
    const delta = recording.events.find((event) => event.type === 'assistant_stream_delta')!
    const gap = { ...delta, data: { ...delta.data, offset: 5 } } as ServerEvent
    expect(reduce(streaming, gap).wants).toBe('replay')
  })

  test('output of a call nobody has heard of is kept', () => {
    const data = { runId: 'r', toolCallId: 'unheard', offset: 0, text: 'words' }
    const next = reduce(state, {
      type: 'tool_result_streamed',
      data,
      sessionId: state.sessionId,
      epoch: state.epoch,
      ts: 1,
    })
    expect(next.tools.get('unheard')?.output.text).toBe('words')
  })
})
