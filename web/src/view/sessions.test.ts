import { expect, test } from 'vitest'
import { sessionGroups, startOfDay, withoutArguments } from './sessions'
import type { SessionRow } from './types'

const NOW = new Date(2026, 10, 19, 9, 30).getTime()
const row = (id: string, ...at: [number, number, number, number?]) =>
  ({ id, updatedAt: new Date(...(at as [number, number, number])).getTime() }) as SessionRow

test('sessions stand together by the days that have passed, and not by hours', () => {
  const rows = [
    row('now', 2026, 10, 19, 9),
    row('midnight', 2026, 10, 19, 0),
    row('late', 2026, 10, 18, 23),
    row('week', 2026, 10, 12),
    row('month', 2026, 10, 11),
    row('first', 2026, 9, 20),
    row('old', 2025, 1, 1),
  ]
  const groups = sessionGroups(rows, startOfDay(NOW)).map(({ age, rows }) => [age, rows.map(({ id }) => id)])
  expect(groups).toEqual([
    ['today', ['now', 'midnight']],
    ['yesterday', ['late']],
    ['week', ['week']],
    ['month', ['month', 'first']],
    ['older', ['old']],
  ])
})

test('without sessions there are no groups', () => {
  expect(sessionGroups([], startOfDay(NOW))).toEqual([])
})

test('a run of a skill is known by its name', () => {
  expect(withoutArguments('/skill folder-audit {"folder":"."}')).toBe('folder-audit')
  expect(withoutArguments('/skill report for last week')).toBe('/skill report for last week')
  expect(withoutArguments('hello {"a":1}')).toBe('hello {"a":1}')
})
