import { describe, expect, test } from 'vitest'
import type { Entry, ServerEvent } from '@/protocol'
import { fromSnapshot, reduce, type SessionState } from '@/session'
import { RECORDINGS } from '@/session/recordings'
import { treeShape } from '@/session/tree'
import { transcript, transcriptProjector, type TranscriptOptions } from './transcript'
import type { AnswerPart, TranscriptRow, Verbosity } from './types'

const options = (verbosity: Verbosity): TranscriptOptions => ({
  verbosity,
  pending: [],
  showsFolded: false,
  loadingOlder: false,
  address: (entryId, number) => `/images/${entryId}/${number}`,
  language: 'en',
  connected: true,
})

/** Rows as a person would read them aloud; ids by the order of their first appearance. */
function read(rows: readonly TranscriptRow[]): string {
  return rows.map((row) => `${row.kind}${flags(row)} ${words(row)}`.trimEnd()).join('\n')
}

function flags(row: TranscriptRow): string {
  const found = [
    row.branch && `‹${row.branch.index + 1}/${row.branch.count}›`,
    row.label && `#${row.label}`,
    row.kind === 'assistant' && row.streaming && 'streaming',
    row.kind === 'assistant' && row.continues && 'continues',
    ((row.kind === 'assistant' && row.ends) || (row.kind === 'activity' && row.answer?.ends)) && 'ends',
    row.kind === 'assistant' && row.stopReason !== 'stop' && row.stopReason !== 'toolUse' && row.stopReason,
    row.kind === 'user' && row.steered && 'steered',
  ].filter(Boolean)
  return found.length === 0 ? '' : ` (${found.join(' ')})`
}

function words(row: TranscriptRow): string {
  switch (row.kind) {
    case 'user':
    case 'pending':
      return row.text
    case 'assistant':
    case 'activity':
      return row.parts.map(part).join(' | ')
    case 'tool':
      return `${row.tool.name} ${row.tool.status}`
    case 'notice':
      return JSON.stringify(row.notice)
    case 'error':
      return row.message
    default:
      return ''
  }
}

function part(part: AnswerPart): string {
  switch (part.kind) {
    case 'text':
      return part.text + (part.open ? '▍' : '')
    case 'thinking':
      return `[thinking${part.open ? '…' : ''}] ${part.text}`
    case 'tool':
      return `[${part.tool.name} ${part.tool.status}: ${part.tool.headline}] ${part.tool.result?.text ?? part.tool.argsText}`
    case 'image':
      return '[image]'
  }
}

describe.each(RECORDINGS)('%s', (name, recording) => {
  const states = recording.events.reduce<SessionState[]>(
    (all, event) => [...all, reduce(all.at(-1)!, event)],
    [fromSnapshot(recording.opened, null, 0)],
  )

  test('a call stays in its row from its beginning to the end of the run, unless it fails', () => {
    const rowsOf = new Map<string, Set<string>>()
    for (const state of states) {
      for (const row of transcript(state, options('summary'))) {
        if (row.kind !== 'assistant' && row.kind !== 'activity') continue
        for (const part of row.parts) {
          if (part.kind !== 'tool' || part.tool.status === 'error' || part.tool.status === 'blocked') continue
          rowsOf.set(part.key, (rowsOf.get(part.key) ?? new Set()).add(row.key))
        }
      }
    }
    expect([...rowsOf].filter(([, rows]) => rows.size > 1).map(([call, rows]) => [call, ...rows])).toEqual([])
  })

  test('reads as it was', async () => {
    const last = states.at(-1)!
    const pages = (['everything', 'summary', 'answer'] as const).map(
      (verbosity) => `== ${verbosity}\n${read(transcript(last, options(verbosity)))}\n`,
    )
    await expect(pages.join('\n')).toMatchFileSnapshot(`golden/${name}.txt`)
  })

  test.each(['everything', 'summary', 'answer'] as const)('with a memory it is the same: %s', (verbosity) => {
    const project = transcriptProjector()
    for (const state of states) {
      expect(project(state, options(verbosity))).toEqual(transcript(state, options(verbosity)))
    }
  })

  test('rows keep their keys when a streamed answer is stored, and keys are unique', () => {
    for (const state of states) {
      const keys = transcript(state, options('everything')).map((row) => row.key)
      expect(new Set(keys).size).toBe(keys.length)
    }
    const started = recording.events.filter((event) => event.type === 'assistant_stream_start')
    const keys = transcript(states.at(-1)!, options('everything')).map((row) => row.key)
    const onPath = started.filter((event) => states.at(-1)!.path.includes(event.data.entryId))
    expect(keys).toEqual(expect.arrayContaining(onPath.map((event) => event.data.entryId)))
  })

  test('a row that did not change is the same object', () => {
    const project = transcriptProjector()
    let before = project(states[0]!, options('everything'))
    states.forEach((state, at) => {
      const rows = project(state, options('everything'))
      const event = recording.events[at - 1]
      if (event?.type === 'assistant_stream_delta') {
        const changed = rows.filter((row) => !before.includes(row))
        expect(changed.length).toBeLessThanOrEqual(1)
      }
      before = rows
    })
  })
})

describe('by hand', () => {
  const base = fromSnapshot(RECORDINGS.find(([name]) => name === 'plain')![1].closed, null, 0)

  function session(entries: readonly Entry[]): SessionState {
    const empty = { ...base, path: [], tree: treeShape({}) }
    return entries.reduce<SessionState>(
      (state, entry, at) =>
        reduce(state, {
          type: 'session_entry_added',
          data: { entry, leafEntryId: entry.id },
          sessionId: base.sessionId,
          epoch: base.epoch,
          seq: base.seq + at + 1,
          ts: at,
        } as ServerEvent),
      empty,
    )
  }

  const stamp = { timestamp: '2026-01-01T00:00:00.000Z' }
  const usage = {
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 2,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  }
  const user = (id: string, parentId: string | null, content: string): Entry => ({
    ...stamp,
    id,
    parentId,
    type: 'message',
    message: { role: 'user', content, timestamp: 0 },
  })
  const answer = (id: string, parentId: string, changes: object): Entry => ({
    ...stamp,
    id,
    parentId,
    type: 'message',
    message: {
      role: 'assistant',
      api: '',
      provider: 'p',
      model: 'blind',
      usage,
      stopReason: 'stop',
      timestamp: 0,
      content: [],
      ...changes,
    },
  })
  const picture = (id: string, parentId: string | null): Entry => ({
    ...stamp,
    id,
    parentId,
    type: 'message',
    message: { role: 'user', content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }], timestamp: 0 },
  })

  test('an image says which model did not receive it', () => {
    const seen = session([
      picture('u1', null),
      answer('a1', 'u1', {}),
      picture('u2', 'a1'),
      answer('a2', 'u2', { netaclaw: { thinkingMs: [], unseenImages: 1 } }),
      user('u3', 'a2', 'and now?'),
      answer('a3', 'u3', {}),
    ])
    const rows = transcript(seen, options('everything'))
    expect(rows.flatMap((row) => (row.kind === 'user' ? [[row.key, row.unseenBy]] : []))).toEqual([
      ['u1', null],
      ['u2', 'blind'],
      ['u3', null],
    ])
  })

  test('a failed answer offers what can be done about it, and settings to those who may change them', () => {
    const words = { zh: '密钥无效。', en: 'The key is not valid.' }
    const failed = session([
      user('u1', null, 'hello'),
      answer('a1', 'u1', { stopReason: 'error', trouble: { kind: 'auth', words, channel: 'work' } }),
    ])
    const offered = (mayConfigure: boolean) =>
      transcript(failed, { ...options('everything'), means: { mayConfigure, hasModels: true } }).flatMap((row) =>
        row.kind === 'assistant' ? [{ remedies: row.remedies, channel: row.channel }] : [],
      )
    expect(offered(true)).toEqual([{ remedies: ['channel', 'model'], channel: 'work' }])
    expect(offered(false)).toEqual([{ remedies: ['model'], channel: 'work' }])
  })

  const call = (id: string, parentId: string, calls: string[]): Entry => ({
    ...stamp,
    id,
    parentId,
    type: 'message',
    message: {
      role: 'assistant',
      api: '',
      provider: 'p',
      model: 'm',
      usage,
      stopReason: 'toolUse',
      timestamp: 0,
      content: calls.map((name) => ({ type: 'toolCall', id: name, name, arguments: { path: id } })),
    },
  })
  const result = (id: string, parentId: string, toolCallId: string, text: string, isError = false): Entry => ({
    ...stamp,
    id,
    parentId,
    type: 'message',
    message: {
      role: 'toolResult',
      toolCallId,
      toolName: toolCallId,
      content: [{ type: 'text', text }],
      isError,
      timestamp: 0,
    },
  })

  test.each(['everything', 'summary', 'answer'] as const)(
    'the reason why a run ended is shown once, the same live and after a reload: %s',
    (verbosity) => {
      const trouble = { kind: 'turn_limit' as const, words: { zh: '到了上限', en: 'The limit was reached.' } }
      const ending: Entry = {
        ...stamp,
        id: 'a2',
        parentId: 'r1',
        type: 'message',
        message: {
          role: 'assistant',
          api: '',
          provider: 'p',
          model: 'm',
          usage,
          stopReason: 'error',
          timestamp: 0,
          content: [],
          errorMessage: trouble.words.en,
          trouble,
        },
      }
      const before = session([user('u1', null, 'one'), call('a1', 'u1', ['x']), result('r1', 'a1', 'x', 'fine')])
      const event = { sessionId: base.sessionId, epoch: base.epoch, ts: 1 }
      const live = [
        {
          ...event,
          type: 'error',
          data: { runId: 'r', code: 'unavailable', severity: 'error', message: trouble.words.en, trouble },
        },
        { ...event, type: 'session_entry_added', data: { entry: ending, leafEntryId: 'a2' } },
        { ...event, type: 'done', data: { runId: 'r', outcome: 'error', reason: 'turn_limit', trouble } },
      ].reduce((state, event, at) => reduce(state, { ...event, seq: before.seq + at + 1 } as ServerEvent), before)
      const reloaded = { ...live, errors: [], done: null }
      const rows = transcript(live, options(verbosity))
      expect(rows).toEqual(transcript(reloaded, options(verbosity)))
      expect(JSON.stringify(rows).split(trouble.words.en).length - 1).toBe(1)
    },
  )

  test('the same call id in two turns keeps two results', () => {
    const state = session([
      user('u1', null, 'one'),
      call('a1', 'u1', ['x']),
      result('r1', 'a1', 'x', 'first'),
      call('a2', 'r1', ['x']),
      result('r2', 'a2', 'x', 'second'),
    ])
    expect(read(transcript(state, options('everything')))).toBe(
      'user one\nassistant [x done: a1] first\nassistant (continues ends) [x done: a2] second',
    )
  })

  test('a question is shown without its Markdown, a command as it is', () => {
    const asks: Entry = {
      ...stamp,
      id: 'a1',
      parentId: 'u1',
      type: 'message',
      message: {
        role: 'assistant',
        api: '',
        provider: 'p',
        model: 'm',
        usage,
        stopReason: 'toolUse',
        timestamp: 0,
        content: [
          {
            type: 'toolCall',
            id: 'x',
            name: 'clarify',
            arguments: { question: 'Which **colour**, `red` or [blue](https://b)?' },
          },
          { type: 'toolCall', id: 'y', name: 'bash', arguments: { command: 'ls **/*.rs' } },
        ],
      },
    }
    expect(read(transcript(session([user('u1', null, 'one'), asks]), options('everything')))).toContain(
      '[clarify interrupted: Which colour, red or blue?]',
    )
    expect(read(transcript(session([user('u1', null, 'one'), asks]), options('everything')))).toContain(
      '[bash interrupted: ls **/*.rs]',
    )
  })

  test('what failed is never folded, and neither is a call that was interrupted', () => {
    const state = session([
      user('u1', null, 'one'),
      call('a1', 'u1', ['x', 'y', 'z']),
      result('r1', 'a1', 'x', 'fine'),
      result('r2', 'r1', 'y', 'broken', true),
    ])
    expect(read(transcript(state, options('summary')))).toBe(
      'user one\nactivity [x done: a1] fine\nassistant (continues ends) [y error: a1] broken | [z interrupted: a1]',
    )
    expect(read(transcript(state, options('answer')))).toBe(
      'user one\nassistant (ends) [y error: a1] broken | [z interrupted: a1]',
    )
  })

  test('a long answer is several rows, the same while it arrives and when it is stored', () => {
    const words = `See [it][1]. ${'Words and words. '.repeat(300)}`
    const text = `${words}\n\n${words}\n\n[1]: https://one.example\n\n${words}\n`
    const answer: Entry = {
      ...stamp,
      id: 'a1',
      parentId: 'u1',
      type: 'message',
      message: {
        role: 'assistant',
        api: '',
        provider: 'p',
        model: 'm',
        usage,
        stopReason: 'stop',
        timestamp: 0,
        content: [{ type: 'text', text }],
      },
    }
    const asked = { ...session([user('u1', null, 'one')]), run: { ...base.run, status: 'running' as const } }
    const event = { sessionId: base.sessionId, epoch: base.epoch, ts: 1 }
    const start = {
      ...event,
      type: 'assistant_stream_start',
      seq: asked.seq + 1,
      data: { runId: 'r', entryId: 'a1', parentId: 'u1', provider: 'p', model: 'm' },
    }
    const pieces = text.match(/[^]{1,50}/g)!.map((piece, at) => ({
      ...event,
      type: 'assistant_stream_delta',
      seq: null,
      data: { runId: 'r', entryId: 'a1', part: 0, kind: 'text', offset: at * 50, text: piece },
    }))
    const project = transcriptProjector()
    let before = project(asked, options('everything'))
    const arrived = [start, ...pieces].reduce((state, event) => {
      const next = reduce(state, event as unknown as ServerEvent)
      const rows = project(next, options('everything'))
      // Only the last row changes, unless another one begins.
      if (rows.length === before.length) expect(rows.slice(0, -1).every((row, at) => row === before[at])).toBe(true)
      before = rows
      return next
    }, asked as SessionState)
    const stored = transcript(session([user('u1', null, 'one'), answer]), options('everything'))
    expect(stored.map((row) => row.key)).toEqual(['u1', 'a1', 'a1~1', 'a1~2'])
    expect(project(arrived, options('everything')).map((row) => row.key)).toEqual(stored.map((row) => row.key))
    const answers = stored.filter((row) => row.kind === 'assistant')
    expect(answers.map(({ cut, continues, ends }) => ({ cut, continues, ends }))).toEqual([
      { cut: true, continues: false, ends: false },
      { cut: true, continues: true, ends: false },
      { cut: false, continues: true, ends: true },
    ])
    const parts = [...answers[2]!.above, ...answers[2]!.parts].filter((part) => part.kind === 'text')
    expect(parts.map((part) => part.text).join('')).toBe(text)
    expect(parts.every((part) => part.definitions === '[1]: https://one.example')).toBe(true)
  })

  test('files stand beside the words, not among them', () => {
    const file = { name: 'a.txt', mimeType: 'text/plain', bytes: 5, kind: 'text' as const, block: 1, id: 'f' }
    const picture = { name: 'b.png', mimeType: 'image/png', bytes: 9, kind: 'image' as const, block: 2 }
    const entry: Entry = {
      ...stamp,
      id: 'u1',
      parentId: null,
      type: 'message',
      message: {
        role: 'user',
        timestamp: 0,
        netaclaw: { attachments: [file, picture] },
        content: [
          { type: 'text', text: 'see' },
          { type: 'text', text: '<file>' },
          { type: 'image', data: '', mimeType: 'image/png' },
        ],
      },
    }
    expect(transcript(session([entry]), options('everything'))[0]).toMatchObject({
      text: 'see',
      images: [{ src: '/images/u1/0', alt: 'b.png' }],
      files: [{ name: 'a.txt', bytes: 5 }],
    })
  })

  test('entries that are not loaded leave a row that says so', () => {
    const state = { ...session([user('u1', null, 'one')]), path: ['gone', 'u1'] }
    expect(read(transcript(state, options('everything')))).toBe('notice {"type":"older","loading":false}\nuser one')
  })

  test('a message on its way gives way to its entry', () => {
    const pending = {
      kind: 'pending' as const,
      key: 'q',
      requestId: 'q',
      text: 'on its way',
      images: [],
      files: [],
      state: 'sending' as const,
      problem: null,
      entryId: null,
      branch: null,
      label: null,
      at: null,
    }
    const state = session([user('u1', null, 'one')])
    expect(read(transcript(state, { ...options('everything'), pending: [pending] }))).toContain('pending on its way')
    const arrived = user('u2', 'u1', 'on its way')
    if (arrived.type === 'message' && arrived.message.role === 'user') arrived.message.netaclaw = { requestId: 'q' }
    const rows = transcript(session([user('u1', null, 'one'), arrived]), {
      ...options('everything'),
      pending: [pending],
    })
    expect(read(rows)).toBe('user one\nuser on its way')
  })
})
