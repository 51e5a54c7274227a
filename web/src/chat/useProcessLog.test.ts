import { effectScope } from 'vue'
import { expect, test, vi } from 'vitest'
import type { ProcessLogPage, RuntimeProcessEvent } from '@/protocol'
import { LOG_GROWS_MS, LOG_PAGE, LOG_PAGES_MAX, useProcessLog } from './useProcessLog'

const TOTAL = 100_000

const event = (sequence: number): RuntimeProcessEvent => ({
  version: 1,
  operationId: 'o',
  targetType: 'skill',
  source: 'skill',
  status: 'running',
  level: 'info',
  message: `step ${sequence}`,
  timestamp: '2026-11-16T09:00:00.000Z',
  sequence,
})

/** A server with a long log, and what was asked of it. */
function longLog(total = TOTAL) {
  const written = { total }
  const asked: number[] = []
  const fails = new Set<number>()
  const read = async (page: number, size: number): Promise<ProcessLogPage> => {
    asked.push(page)
    if (fails.delete(page)) throw new Error('gone')
    const from = (page - 1) * size
    const { total } = written
    const items = Array.from({ length: Math.max(0, Math.min(size, total - from)) }, (_, at) => event(from + at + 1))
    return { items, page, size, total }
  }
  const log = effectScope().run(() => useProcessLog(read))!
  return { log, asked, fails, written }
}

/** Everything that was asked for has been answered. */
const settled = () => new Promise((resolve) => setTimeout(resolve))

test('only what is looked at is asked for, once', async () => {
  const { log, asked } = longLog()
  expect(log.total.value).toBeNull()
  await settled()
  expect(log.total.value).toBe(TOTAL)
  expect([log.at(0)?.message, log.at(LOG_PAGE)]).toEqual(['step 1', null])
  log.want(TOTAL - 10, TOTAL + 50)
  log.want(TOTAL - 12, TOTAL + 50)
  await settled()
  expect(log.at(TOTAL - 1)?.message).toBe(`step ${TOTAL}`)
  expect(asked).toEqual([1, TOTAL / LOG_PAGE])
})

test('who scrolls through all of it does not keep all of it', async () => {
  const { log, asked } = longLog()
  await settled()
  for (let at = 0; at < TOTAL; at += LOG_PAGE) {
    log.want(at, at + LOG_PAGE)
    await settled()
    expect(log.at(at)?.message).toBe(`step ${at + 1}`)
  }
  expect(asked).toHaveLength(TOTAL / LOG_PAGE)
  const here = Array.from({ length: TOTAL / LOG_PAGE }, (_, page) => log.at(page * LOG_PAGE)).filter(
    (step) => step !== null,
  )
  expect(here).toHaveLength(LOG_PAGES_MAX)
  log.want(0, 10)
  await settled()
  expect(log.at(0)?.message).toBe('step 1')
})

test('a failed request is shown and can be retried', async () => {
  const { log, fails } = longLog()
  await settled()
  fails.add(3)
  log.want(2 * LOG_PAGE, 2 * LOG_PAGE + 10)
  await settled()
  expect(log.problem.value).toBeInstanceOf(Error)
  log.reload()
  await settled()
  expect(log.problem.value).toBeNull()
  expect(log.at(2 * LOG_PAGE)?.message).toBe(`step ${2 * LOG_PAGE + 1}`)
})

test('a log that is empty is known to be', async () => {
  const { log } = longLog(0)
  await settled()
  expect(log.total.value).toBe(0)
})

test('what is added later is fetched, a page at a time and not at every step', async () => {
  vi.useFakeTimers()
  const { log, asked, grow } = growingLog(150)
  await vi.advanceTimersByTimeAsync(0)
  expect([log.total.value, log.at(150)]).toEqual([150, null])
  for (let step = 0; step < 20; step++) grow(10)
  await vi.advanceTimersByTimeAsync(0)
  expect(log.total.value).toBe(160)
  expect(log.at(159)?.message).toBe('step 160')
  await vi.advanceTimersByTimeAsync(LOG_GROWS_MS)
  // The rest of the page that was there in part, and of the next what is looked at.
  expect([log.total.value, log.at(199)?.message, log.at(200)]).toEqual([350, 'step 200', null])
  log.want(200, 210)
  await vi.advanceTimersByTimeAsync(0)
  expect(log.at(349)?.message).toBe('step 350')
  expect(asked).toEqual([1, 1, 1, 2])
  vi.useRealTimers()
})

/** A log that more is written to. */
function growingLog(total: number) {
  const { log, asked, written } = longLog(total)
  const grow = (steps: number) => {
    written.total += steps
    void log.grow()
  }
  return { log, asked, grow }
}
