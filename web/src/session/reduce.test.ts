import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ServerEvent } from '@/protocol'
import { fromSnapshot, reduce, wholeText, withoutWants, type SessionState } from '.'
import { RECORDINGS, type Recording } from './recordings'

const NOW = 0

/** All of a state in a form that can be compared: maps by their content. */
function whole(state: SessionState) {
  const { entries, tree, tools } = state
  return {
    ...state,
    entries: Object.fromEntries(entries),
    tree: {
      size: tree.size,
      parentOf: Object.fromEntries(tree.parentOf),
      childrenOf: Object.fromEntries(tree.childrenOf),
    },
    tools: Object.fromEntries(tools),
  }
}

/** What a client knows at the end, however it heard of it. When it last heard something is its own matter. */
function known(state: SessionState) {
  const { lastActivity, ...rest } = whole(state)
  return rest
}

/** The same without what only those know who were there: how it went on the way, and entries that left the path. */
function kept(state: SessionState) {
  const { done, errors, compaction, entries, ...rest } = known(state)
  // Counters that only lists show, and lists ask for them.
  const { messageCount, leafEntryId, updatedAt, ...meta } = state.meta
  return { ...rest, meta, tokens: state.tokens.current, entries: state.path.map((id) => asStored(entries[id])) }
}

/** Beside an answer a snapshot repeats what the results of its calls tell. */
function asStored(entry: object | undefined) {
  const { metadata, ...stored } = { metadata: null, ...entry }
  return stored
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
      text: wholeText(part.text),
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
    expect(kept(arrived)).toEqual(kept(fromSnapshot(recording.closed, null, NOW)))
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
      expect(known(play(begun, events.slice(at)))).toEqual(known(undisturbed(recording, events.length)))
    }
  })

  test('losses, doubles and delays heal', () => {
    const expected = known(undisturbed(recording, recording.events.length))
    fc.assert(
      fc.property(fates, (luck) => {
        expect(known(disturbed(recording, luck))).toEqual(expected)
      }),
      { numRuns: 30 },
    )
  })

  test('nothing is changed in place', () => {
    const states = [start(recording)]
    for (const event of recording.events) states.push(reduce(states.at(-1)!, event))
    const copies = states.map((state) => structuredClone(whole(state)))
    states.forEach((state) => play(state, recording.events))
    expect(states.map(whole)).toEqual(copies)
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
    expect(reduce(state, { ...numbered[0]!, epoch: 'other' })).toEqual({ ...state, wants: 'snapshot' })
  })

  test('another session is none of its business', () => {
    expect(reduce(state, { ...numbered[0]!, sessionId: 'other' })).toBe(state)
  })

  test('text with a gap before it asks for a replay', () => {
    const at = recording.events.findIndex((event) => event.type === 'assistant_stream_delta')
    const streaming = play(state, recording.events.slice(0, at))
    const delta = recording.events[at] as Extract<ServerEvent, { type: 'assistant_stream_delta' }>
    expect(streaming.streaming?.entryId).toBe(delta.data.entryId)
    expect(reduce(streaming, { ...delta, data: { ...delta.data, offset: delta.data.offset + 1 } })).toEqual({
      ...streaming,
      wants: 'replay',
    })
    expect(reduce(streaming, delta)).toMatchObject({
      wants: null,
      streaming: { parts: [{ text: { end: delta.data.text } }] },
    })
  })

  test('text of a stored answer changes nothing, text of an unknown one asks for a replay', () => {
    const ended = play(state, recording.events)
    const delta = recording.events.find((event) => event.type === 'assistant_stream_delta')!
    expect(reduce(ended, delta)).toBe(ended)
    expect(reduce(state, delta)).toEqual({ ...state, wants: 'replay' })
  })

  test('however much a call says, what the server shows of it is shown, and what it does not show is no gap', () => {
    const say = (offset: number, text: string): ServerEvent => ({
      type: 'tool_result_streamed',
      data: { runId: 'r', toolCallId: 'long', offset, text },
      sessionId: state.sessionId,
      epoch: state.epoch,
      ts: 1,
    })
    const shown = 256 * 1024
    const full = reduce(state, say(0, '三'.repeat(shown)))
    const cut = reduce(full, say(shown, '[no more]'))
    expect(cut.wants).toBeNull()
    expect(cut.tools.get('long')).toMatchObject({ output: { length: shown + 9 } })
  })

  test('output of an unknown call is kept', () => {
    const data = { runId: 'r', toolCallId: 'unheard', offset: 0, text: 'words' }
    const next = reduce(state, {
      type: 'tool_result_streamed',
      data,
      sessionId: state.sessionId,
      epoch: state.epoch,
      ts: 1,
    })
    expect([...next.tools.keys()]).toEqual(['unheard'])
    expect(next.tools.get('unheard')).toMatchObject({
      runId: 'r',
      name: '',
      result: null,
      output: { end: 'words', length: 5 },
    })
  })
})

test('labels come with their time, and what they say is kept', () => {
  const [, recording] = RECORDINGS[0]!
  const label = { label: 'here', timestamp: '2026-11-16T09:00:00.000Z' }
  const { closed } = recording
  const opened = { ...closed, snapshot: { ...closed.snapshot!, labelsByEntryId: { a: label } } }
  const state = fromSnapshot(opened, null, NOW)
  expect(state.labels).toEqual({ a: 'here' })
  const updated = (labels: object | undefined): SessionState =>
    reduce(state, {
      type: 'session_updated',
      data: { session: state.meta, ...(labels && { labels }) },
      sessionId: state.sessionId,
      epoch: state.epoch,
      seq: state.seq + 1,
      ts: 0,
    } as ServerEvent)
  expect(updated({ b: label }).labels).toEqual({ b: 'here' })
  expect(updated(undefined).labels).toEqual({ a: 'here' })
})
