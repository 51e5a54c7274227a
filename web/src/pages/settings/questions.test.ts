import { expect, test } from 'vitest'
import { minutesOf, minutesProblem, timeoutOf } from './questions'

test('minutes on the page are milliseconds of the server, and empty is never', () => {
  expect([minutesOf(undefined), minutesOf(90_000), minutesOf(3_600_000)]).toEqual(['', '1.5', '60'])
  expect([timeoutOf(' '), timeoutOf('1.5'), timeoutOf('60')]).toEqual([null, 90_000, 3_600_000])
})

test('only minutes up to a year count', () => {
  for (const text of ['', '1', '0.5', '525600']) expect(minutesProblem(text), text).toBe(false)
  for (const text of ['0', '-1', 'soon', '525601', '1e99']) expect(minutesProblem(text), text).toBe(true)
})
