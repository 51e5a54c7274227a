import { expect, test } from 'vitest'
import type { SessionListItem } from '@/protocol'
import { newsTracker } from './news'

const item = (sessionId: string, running: boolean, waiting: boolean): SessionListItem =>
  ({ sessionId, running, waiting, title: null, firstMessage: `About\n${sessionId}` }) as unknown as SessionListItem

test('the end of a run and a question are news, once', () => {
  const track = newsTracker()
  expect(track([item('a', true, false), item('b', false, true)])).toEqual([])
  expect(track([item('a', false, false), item('b', false, true)])).toEqual([
    { sessionId: 'a', title: 'About a', kind: 'finished' },
  ])
  expect(track([item('a', false, false)])).toEqual([])
  expect(track([item('a', true, false)])).toEqual([])
  expect(track([item('a', true, true)])).toEqual([{ sessionId: 'a', title: 'About a', kind: 'waiting' }])
  expect(track([item('a', true, true)])).toEqual([])
})

test('a run that goes on after an answer, or pauses for a question, has not ended', () => {
  const track = newsTracker()
  track([item('a', true, false)])
  expect(track([item('a', false, true)]).map(({ kind }) => kind)).toEqual(['waiting'])
  expect(track([item('a', true, false)])).toEqual([])
  expect(track([item('a', false, false)]).map(({ kind }) => kind)).toEqual(['finished'])
})

test('what leaves the list and comes back is compared with what it was', () => {
  const track = newsTracker()
  track([item('a', true, false)])
  expect(track([])).toEqual([])
  expect(track([item('a', false, false)])).toHaveLength(1)
})
