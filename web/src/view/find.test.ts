import { describe, expect, test } from 'vitest'
import { finder, FOUND_MAX } from './find'
import type { AnswerPart, TranscriptRow } from './types'

const base = { entryId: null, branch: null, label: null, at: null }
const user = (key: string, text: string) =>
  ({ ...base, kind: 'user', key, text, images: [], files: [], steered: false, unseenBy: null }) as TranscriptRow
const text = (key: string, text: string): AnswerPart => ({
  kind: 'text',
  key,
  text,
  open: false,
  cut: false,
  definitions: '',
})
const tool = (key: string, args: unknown, result: string) =>
  ({
    kind: 'tool',
    key,
    tool: { args, argsText: '', output: '', result: { text: result, images: [] } },
  }) as unknown as AnswerPart
const answer = (key: string, ...parts: AnswerPart[]) =>
  ({ ...base, kind: 'assistant', key, parts }) as unknown as TranscriptRow
const steps = (key: string, ...parts: AnswerPart[]) =>
  ({ ...base, kind: 'activity', key, parts }) as unknown as TranscriptRow

/** Where the words are: row, part and which of them. */
function places(rows: readonly TranscriptRow[], words: string): string[] {
  return finder()(rows, words).map(({ rowKey, partKey, nth }) =>
    [rowKey, partKey, nth].filter((part) => part !== null).join(' '),
  )
}

describe('finds', () => {
  test('words of both sides, in their order, whatever the case', () => {
    const rows = [user('u', 'A door, another DOOR'), answer('a', text('a/0', 'No door.')), user('v', 'nothing')]
    expect(places(rows, ' Door ')).toEqual(['u 0', 'u 1', 'a a/0 0'])
  })

  test('Chinese, and signs that mean something elsewhere', () => {
    const rows = [user('u', '门是什么颜色？'), user('v', 'a.b (c) [d] $1')]
    expect(places(rows, '什么')).toEqual(['u 0'])
    expect(places(rows, '(c) [d] $')).toEqual(['v 0'])
    expect(places(rows, 'a?b')).toEqual([])
  })

  test('Markdown as it is read and as it is written', () => {
    const rows = [answer('a', text('p', 'A **very good** [link](https://example.org) and `__init__`'))]
    for (const words of ['very good link', '**very', '__init__', 'example.org'])
      expect(places(rows, words), words).toEqual(['a p 0'])
  })

  test('what is folded away, and says what has to be opened', () => {
    const rows = [steps('s', tool('t', { path: 'main.rs' }, 'fn main() {}'))]
    expect(finder()(rows, 'main')).toEqual([
      { rowKey: 's', partKey: 't', openKeys: ['s', 't'], nth: 0 },
      { rowKey: 's', partKey: 't', openKeys: ['s', 't'], nth: 1 },
    ])
  })

  test('nothing when nothing is asked for', () => {
    expect(places([user('u', 'a b')], '  ')).toEqual([])
  })

  test('no more than can be counted', () => {
    expect(finder()([user('u', 'a'.repeat(FOUND_MAX * 3)), user('v', 'a')], 'a')).toHaveLength(FOUND_MAX + 1)
  })
})

test('with a memory it is the same, also when the words or a row change', () => {
  const find = finder()
  const rows = [user('u', 'one two'), user('v', 'two')]
  for (const [now, words] of [
    [rows, 'two'],
    [rows, 'two'],
    [rows, 'one'],
    [[rows[0]!, user('v', 'one, one')], 'one'],
  ] as const) {
    expect(find(now, words)).toEqual(finder()(now, words))
  }
})
