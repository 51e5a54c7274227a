import { beforeEach, expect, test } from 'vitest'
import { lastSession, rememberSession } from './lastSession'

beforeEach(() => localStorage.clear())

test('the pointer is for one user, and a new session takes it away', () => {
  expect(lastSession('ann')).toBeNull()
  rememberSession('ann', 's1')
  expect([lastSession('ann'), lastSession('bob')]).toEqual(['s1', null])
  rememberSession('ann', null)
  expect(lastSession('ann')).toBeNull()
})

test('nonsense in the storage is no session', () => {
  for (const text of ['{', 'null', '"s1"', '{"userId":"ann"}', '{"userId":"ann","sessionId":7}']) {
    localStorage.setItem('netaclaw.session', text)
    expect(lastSession('ann'), text).toBeNull()
  }
})
