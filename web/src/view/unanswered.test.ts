import { expect, test } from 'vitest'
import type { TranscriptRow } from './types'
import { unansweredKey } from './unanswered'

const row = (kind: string, key: string) => ({ kind, key, entryId: key }) as unknown as TranscriptRow

test('a message at the end of the session waits for an answer, also behind a change of the model', () => {
  expect(unansweredKey([row('user', 'a'), row('assistant', 'b'), row('user', 'c')])).toBe('c')
  expect(unansweredKey([row('user', 'a'), row('notice', 'b')])).toBe('a')
})

test('a message with an answer, an error or an activity after it does not', () => {
  for (const kind of ['assistant', 'error', 'activity', 'compaction'])
    expect(unansweredKey([row('user', 'a'), row(kind, 'b')])).toBeNull()
  expect(unansweredKey([])).toBeNull()
  expect(unansweredKey([row('pending', 'a')])).toBeNull()
})
