import { describe, expect, test } from 'vitest'
import type { CompactionError, Entry, ServerEvent } from '@/protocol'
import { fromSnapshot, reduce, type SessionState } from '@/session'
import { PersistentMap } from '@/session/persistentMap'
import { RECORDINGS } from '@/session/recordings'
import { treeShape } from '@/session/tree'
import { transcript, type TranscriptOptions } from './transcript'

const [, recording] = RECORDINGS.find(([name]) => name === 'plain')!
const base = fromSnapshot(recording.closed, null, 0)
const stamp = { timestamp: '2026-11-16T09:00:00.000Z' }

const said = (id: string, parentId: string | null): Entry => ({
  ...stamp,
  id,
  parentId,
  type: 'message',
  message: { role: 'user', content: id, timestamp: 0 },
})
const compaction = (id: string, parentId: string, firstKeptEntryId: string, details: object = {}): Entry => ({
  ...stamp,
  id,
  parentId,
  type: 'compaction',
  summary: `summary ${id}`,
  firstKeptEntryId,
  tokensBefore: 900,
  details: details as never,
})

/** A session of entries in one line, of which the first `missing` are not loaded. */
function session(entries: readonly Entry[], missing = 0): SessionState {
  const children: Record<string, string[]> = {}
  for (const { id, parentId } of entries) children[parentId ?? '__root__'] = [id]
  const loaded = entries.slice(missing).map((entry) => [entry.id, entry] as const)
  return {
    ...base,
    entries: PersistentMap.empty<Entry>().withAll(loaded),
    tree: treeShape(children),
    path: entries.map((entry) => entry.id),
    labels: {},
  }
}

const options = (changes: Partial<TranscriptOptions> = {}): TranscriptOptions => ({
  verbosity: 'everything',
  pending: [],
  showsFolded: false,
  loadingOlder: false,
  address: () => '',
  language: 'en',
  connected: true,
  ...changes,
})

/** A word for each row. */
const read = (state: SessionState, changes: Partial<TranscriptOptions> = {}) =>
  transcript(state, options(changes)).map((row) => {
    if (row.kind === 'folded') return `${row.isOpen ? '▾' : '▸'}${row.count}`
    if (row.kind === 'notice') return row.notice.type
    return row.kind === 'user' ? row.text : `${row.kind}:${row.entryId ?? ''}`
  })

const ONE = [said('a', null), said('b', 'a'), said('c', 'b'), compaction('x', 'c', 'c'), said('d', 'x')]
const TWO = [...ONE, said('e', 'd'), compaction('y', 'e', 'e'), said('f', 'y')]

describe('what a compaction folded', () => {
  test('is not shown, or is shown above the line', () => {
    expect(read(session(ONE))).toEqual(['▸2', 'c', 'compaction:x', 'd'])
    expect(read(session(ONE), { showsFolded: true })).toEqual(['a', 'b', '▾2', 'c', 'compaction:x', 'd'])
  })

  test('of two, the last one counts, and the earlier one is among what it folded', () => {
    expect(read(session(TWO))).toEqual(['▸5', 'e', 'compaction:y', 'f'])
    expect(read(session(TWO), { showsFolded: true })).toEqual([
      'a',
      'b',
      'c',
      'compaction:x',
      'd',
      '▾5',
      'e',
      'compaction:y',
      'f',
    ])
  })

  test('without a compaction there is no line', () => {
    expect(read(session([said('a', null), said('b', 'a')]))).toEqual(['a', 'b'])
  })

  test('a branch from before it is whole again', () => {
    const state = session(ONE)
    expect(read({ ...state, path: ['a', 'b', 'c'] })).toEqual(['a', 'b', 'c'])
  })

  test('nothing kept before the summary is the summary alone', () => {
    expect(read(session([said('a', null), compaction('x', 'a', 'gone'), said('b', 'x')]))).toEqual([
      '▸1',
      'compaction:x',
      'b',
    ])
  })

  test.each([
    [1, false, ['▸2', 'c', 'compaction:x', 'd']],
    [2, false, ['▸2', 'c', 'compaction:x', 'd']],
    [3, false, ['older', 'compaction:x', 'd']],
    [1, true, ['older', 'b', '▾2', 'c', 'compaction:x', 'd']],
    [2, true, ['older', '▾2', 'c', 'compaction:x', 'd']],
    [4, false, ['older', 'd']],
  ])('with %i entries not loaded, shown: %s', (missing, showsFolded, expected) => {
    expect(read(session(ONE, missing), { showsFolded })).toEqual(expected)
  })

  test('what there is to know is taken from the details, and from foreign ones what they have', () => {
    const details = {
      reason: 'auto',
      tokensAfter: 120,
      compactedCount: 2,
      keptCount: 1,
      model: 'small',
      durationMs: 40,
      instructions: 'names',
      readFiles: ['a.rs', 7],
      modifiedFiles: 'none',
      ledger: [{ call: 'write a.rs', failed: true, times: 2 }, 'odd'],
    }
    const row = (details: unknown) =>
      transcript(session([said('a', null), compaction('x', 'a', 'a', details as object)]), options()).at(-1)
    expect(row(details)).toMatchObject({
      reason: 'auto',
      tokensBefore: 900,
      tokensAfter: 120,
      messageCount: 2,
      undoTo: 'a',
      about: {
        model: 'small',
        durationMs: 40,
        keptCount: 1,
        instructions: 'names',
        readFiles: ['a.rs'],
        modifiedFiles: [],
        calls: [{ call: 'write a.rs', failed: true, times: 2 }],
      },
    })
    expect(row(undefined)).toMatchObject({ reason: null, tokensAfter: null, about: { calls: [], readFiles: [] } })
    expect(row('text')).toMatchObject({ reason: null })
  })
})

describe('a compaction under way', () => {
  const state = session([said('a', null)])
  const play = (...events: readonly Pick<ServerEvent, 'type' | 'data'>[]) =>
    events.reduce(
      (state, event) =>
        reduce(state, {
          ...event,
          sessionId: state.sessionId,
          epoch: state.epoch,
          ts: 5,
          seq: state.seq + 1,
        } as ServerEvent),
      state,
    )
  const row = (state: SessionState, language: 'en' | 'zh' = 'en') =>
    transcript(state, options({ language })).find((row) => row.kind === 'compaction')

  const START = { type: 'compaction_start', data: { reason: 'auto', messageCount: 84 } } as const
  const error: CompactionError = {
    reason: 'auto',
    message: 'm',
    words: { zh: '没有回答', en: 'no answer' },
    fault: 'model_failed',
    retryable: true,
    retryAt: 99,
  }
  const FAILED = { type: 'compaction_error', data: error } as const
  const ADDED = { type: 'session_entry_added', data: { entry: said('b', 'a'), leafEntryId: 'b' } } as const

  test('is shown until its entry tells of it', () => {
    expect(row(play(START))).toMatchObject({
      state: 'running',
      reason: 'auto',
      messageCount: 84,
      at: 5,
      stage: { stage: 'planning' },
    })
    const progress = { type: 'compaction_progress', data: { stage: 'summarizing', part: 1, parts: 2 } } as const
    expect(row(play(START, progress))).toMatchObject({ state: 'running', stage: progress.data })
    expect(row(play(progress))).toBeUndefined()
    const done = {
      success: true,
      compactedCount: 1,
      keepRecentCount: 0,
      summaryEntryId: 'x',
      summaryContent: 's',
      tokensBefore: 9,
      tokensAfter: 1,
    }
    expect(row(play(START, { type: 'compaction_done', data: done }))).toBeUndefined()
  })

  test('that failed says so in the reader’s language, until it is dismissed or one succeeds', () => {
    expect(row(play(START, FAILED))).toMatchObject({
      state: 'error',
      problem: 'no answer',
      isFault: true,
      canRetry: true,
      retryAt: 99,
    })
    expect(row(play(START, FAILED), 'zh')).toMatchObject({ problem: '没有回答' })
    expect(row(play(START, FAILED, ADDED))).toMatchObject({ state: 'error' })
    expect(
      row(play(START, FAILED, { type: 'session_leaf_changed', data: { leafEntryId: 'a', activePath: ['a'] } })),
    ).toMatchObject({ state: 'error' })
    expect(row(play(START, FAILED, START))).toMatchObject({ state: 'running' })
    expect(row(play(START, FAILED, { type: 'compaction_dismissed', data: {} }))).toBeUndefined()
    const snapshot = { ...recording.closed.snapshot!, compactionFailed: { ...error, at: 7 } }
    expect(row(fromSnapshot({ ...recording.closed, snapshot }, null, 0))).toMatchObject({
      state: 'error',
      problem: 'no answer',
      retryAt: 99,
      at: 7,
    })
  })

  test('that did not let one leave a branch is tried again from the tree', () => {
    const failed = { ...FAILED, data: { ...error, reason: 'branch' } } as const
    expect(row(play({ ...START, data: { reason: 'branch', messageCount: 3 } }, failed))).toMatchObject({
      canRetry: false,
      canDismiss: true,
      reason: 'branch',
    })
  })

  test.each(['nothing_to_compress', 'cancelled'] as const)(
    '%s is no fault, and goes with the next message',
    (fault) => {
      const told = { type: 'compaction_error', data: { ...error, fault, retryable: false, retryAt: null } } as const
      expect(row(play(START, told))).toMatchObject({ isFault: false, canRetry: false })
      expect(row(play(START, told, ADDED))).toBeUndefined()
    },
  )

  test('goes on through messages, and is in the snapshot for who joins', () => {
    expect(row(play(START, ADDED))).toMatchObject({ state: 'running' })
    const snapshot = {
      ...recording.closed.snapshot!,
      compaction: { since: 7, reason: 'manual' as const, messageCount: 3, progress: { stage: 'checking' as const } },
    }
    expect(row(fromSnapshot({ ...recording.closed, snapshot }, null, 0))).toMatchObject({
      state: 'running',
      reason: 'manual',
      messageCount: 3,
      at: 7,
      stage: { stage: 'checking' },
    })
  })
})
