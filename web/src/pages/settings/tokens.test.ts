import { expect, test } from 'vitest'
import type { Token } from '@/protocol'
import { expiry, isBrowserLogin, SCOPE_FOR_NEW, sortedTokens, tokenName, tokenState } from './tokens'

const token = (id: string, change: Partial<Token>): Token => ({
  id,
  userId: 'u',
  label: id,
  scope: 'full',
  expiresAt: null,
  issuedWith: null,
  revokedAt: null,
  lastUsedAt: null,
  rev: 1,
  createdAt: 0,
  updatedAt: 0,
  ...change,
})

test('a token is live until it is revoked or its time has come', () => {
  expect(tokenState(token('a', {}), 10)).toBe('live')
  expect(tokenState(token('a', { expiresAt: 11 }), 10)).toBe('live')
  expect(tokenState(token('a', { expiresAt: 10 }), 10)).toBe('expired')
  expect(tokenState(token('a', { expiresAt: 5, revokedAt: 3 }), 10)).toBe('revoked')
})

test('browsers are called so in the language of the page', () => {
  expect(tokenName(token('a', { label: 'browser' }), '浏览器')).toBe('浏览器')
  expect(tokenName(token('a', { label: 'a robot' }), '浏览器')).toBe('a robot')
  expect(tokenName(token('a', { label: '' }), '浏览器')).toBeNull()
})

test('browser logins are separated from tokens of programs, and a new token has a small scope', () => {
  expect(isBrowserLogin(token('a', { label: 'browser' }))).toBe(true)
  expect(isBrowserLogin(token('a', { label: 'a robot' }))).toBe(false)
  expect(SCOPE_FOR_NEW).toBe('chat')
})

test('what still opens something stands first, the newest before the others', () => {
  const tokens = [
    token('old', { createdAt: 1 }),
    token('gone', { createdAt: 9, revokedAt: 9 }),
    token('new', { createdAt: 2 }),
  ]
  expect(sortedTokens(tokens, 10).map(({ id }) => id)).toEqual(['new', 'old', 'gone'])
})

test('a lifetime is a number of days, or none', () => {
  expect(expiry('30', 1000)).toBe(1000 + 30 * 86_400_000)
  expect(expiry('never', 1000)).toBeNull()
})
