import { expect, test } from 'vitest'
import { placeAfter } from './place'

test('a login leads back to a page of the app', () => {
  expect(placeAfter('/agents/a?tab=model')).toBe('/agents/a?tab=model')
})

test('and nowhere else', () => {
  for (const from of [
    undefined,
    null,
    ['/a'],
    '',
    'agents',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/login?from=/login',
  ]) {
    expect(placeAfter(from)).toBe('/')
  }
})
