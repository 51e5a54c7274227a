import { expect, test } from 'vitest'
import { connectionView } from './connection'

test('a retry says when it is made, and how many came before', () => {
  const view = connectionView({ state: 'waiting', attempt: 3, retryAt: 5_000 }, 2)
  expect(view).toEqual({ state: 'waiting', attempt: 3, retryAt: 5_000, unsent: 2 })
})

test('a connection that is not open yet is shown as one that is being made', () => {
  expect(connectionView({ state: 'closed' }, 0).state).toBe('connecting')
  expect(connectionView({ state: 'connecting', attempt: 1 }, 0)).toMatchObject({ state: 'connecting', attempt: 1 })
})

test('the message of a refusal stays out of the view', () => {
  const view = connectionView({ state: 'refused', message: 'no such token' }, 1)
  expect(view).toEqual({ state: 'refused', attempt: 0, retryAt: null, unsent: 1 })
})
