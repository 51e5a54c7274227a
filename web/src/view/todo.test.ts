import { expect, test } from 'vitest'
import type { Entry, TodoItem, TodoStatus } from '@/protocol'
import { fromSnapshot, type SessionState } from '@/session'
import { PersistentMap } from '@/session/persistentMap'
import { RECORDINGS } from '@/session/recordings'
import { todoView } from './todo'

const base = fromSnapshot(RECORDINGS.find(([name]) => name === 'plain')![1].closed, null, 0)

const list = (...states: TodoStatus[]): TodoItem[] =>
  states.map((status, at) => ({ id: String(at + 1), text: `item ${at + 1}`, status }))

function result(at: number, details: unknown): Entry {
  const message = {
    role: 'toolResult',
    toolCallId: `c${at}`,
    toolName: 'any',
    content: [],
    isError: false,
    timestamp: 0,
    details,
  }
  return {
    type: 'message',
    id: `e${at}`,
    parentId: at === 0 ? null : `e${at - 1}`,
    timestamp: '2026-01-01T00:00:00Z',
    message,
  } as Entry
}

/** A session in which these calls were made, of the list or of any other tool. */
function after(...calls: (TodoItem[] | 'work')[]): SessionState {
  const entries = calls.map((call, at) => result(at, call === 'work' ? {} : { todo: { revision: at, items: call } }))
  const items = calls.findLast((call) => call !== 'work') as TodoItem[]
  return {
    ...base,
    entries: PersistentMap.from(entries.map((entry) => [entry.id, entry])),
    path: entries.map((entry) => entry.id),
    todo: { revision: 9, items },
  }
}

const doubted = (state: SessionState) =>
  todoView(state)
    ?.items.filter((item) => item.unverified)
    .map((item) => item.id)

test('what is done without a tool having worked is marked', () => {
  expect(doubted(after(list('in_progress', 'pending'), list('done', 'done')))).toEqual(['1', '2'])
  expect(doubted(after(list('in_progress', 'pending'), 'work', list('done', 'in_progress')))).toEqual([])
  expect(
    doubted(after(list('in_progress', 'pending'), 'work', list('done', 'in_progress'), list('done', 'done'))),
  ).toEqual(['2'])
  // Taken back and done again, this time with work.
  expect(doubted(after(list('pending'), list('done'), list('in_progress'), 'work', list('done')))).toEqual([])
})

test('what was done before the list is known here is believed', () => {
  expect(doubted(after(list('done', 'in_progress')))).toEqual([])
  const { path, ...state } = after(list('pending', 'pending'), list('done', 'pending'), 'work', list('done', 'done'))
  expect(doubted({ ...state, path: path.slice(1) })).toEqual([])
})

test('cancelled items are not counted, and a long list says what it leaves out', () => {
  expect(todoView(after(list('done', 'in_progress', 'cancelled')))).toMatchObject({
    done: 1,
    total: 2,
    active: { id: '2' },
    hidden: 0,
  })
  expect(todoView(after(list(...Array<TodoStatus>(130).fill('pending'))))).toMatchObject({ total: 130, hidden: 30 })
  expect(todoView({ ...base, todo: { revision: 1, items: [] } })).toBeNull()
})
