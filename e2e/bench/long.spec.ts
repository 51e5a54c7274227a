/** How a long session feels, and whether that is as promised. */

import type { CDPSession, Page } from '@playwright/test'
import { writeFileSync } from 'node:fs'
import { Chat } from '../support/chat.ts'
import { importSession } from '../support/long.ts'
import { flow } from '../support/model.ts'
import { chatFiles } from '../support/pages.ts'
import { expect, test } from '../support/test.ts'
import { Verdict } from './verdict.ts'

const TOKENS_PER_SECOND = 200
const SECONDS = Number(process.env.BENCH_SECONDS ?? 600)
const WRITTEN = 'some words while it streams '

const PARAGRAPHS = [
  'The quick brown fox jumps over the lazy dog, and **then** it rests for a while under `a tree`.\n\n',
  '- first of all\n- second of all\n- third of all, with a [link](https://example.org)\n\n',
  '```rust\nfn main() {\n    for number in 0..10 {\n        println!("{number}");\n    }\n}\n```\n\n',
  '| name | size |\n| --- | ---: |\n| a | 1 |\n| b | 22 |\n\n',
  'Some more words that say little, so that there is something to read while the rest is on its way to you.\n\n',
]

/** About as a model would cut it. */
function tokens(count: number): string[] {
  const found: string[] = []
  for (let at = 0; found.length < count; at++)
    found.push(...PARAGRAPHS[at % PARAGRAPHS.length]!.match(/\s*\w{1,5}|\W/g)!)
  return found.slice(0, count)
}

test('2,000 messages with 500 tool cards and a stream', async ({ chat, model, page, server }) => {
  const id = await importSession(server, 'long', { turns: 1_000, tools: 500 })
  await page.addInitScript(() => localStorage.setItem('netaclaw.prefs', JSON.stringify({ verbosity: 'everything' })))
  await page.goto(`${server.address}/s/${id}`)
  await loadAll(page)
  await page.getByRole('button', { name: /Jump to latest/ }).click()
  await expect(chat.rows.last()).toContainText('Part 999')
  console.log(`rows in the page: ${await chat.rows.count()}`)

  await observe(page)
  const browser = await page.context().newCDPSession(page)
  const profile = await startProfile(browser)
  model.next(flow(tokens(TOKENS_PER_SECOND * SECONDS), TOKENS_PER_SECOND))
  const before = await memory(page, browser)
  await chat.send('Tell me everything')
  await expect(chat.stopButton).toBeVisible()
  const began = Date.now()
  const heaps: (Memory & { at: number })[] = []
  let typed = 0
  while ((await chat.stopButton.count()) > 0) {
    // A user types meanwhile, at a human pace, and clears the field now and then.
    await chat.field.pressSequentially(WRITTEN, { delay: 40 })
    typed += WRITTEN.length
    await chat.field.fill('')
    const elapsed = (Date.now() - began) / 1000
    if (elapsed > (heaps.length + 1) * (SECONDS / 6))
      heaps.push({ at: Math.round(elapsed), ...(await memory(page, browser)) })
  }
  const took = (Date.now() - began) / 1000
  await profile()
  const { keys, tasks } = await page.evaluate(() => (window as unknown as { seen: Seen }).seen)
  // What took less than 16 ms is not reported one by one.
  const latencies = [...keys, ...Array.from({ length: Math.max(0, typed - keys.length) }, () => 16)].sort(
    (a, b) => a - b,
  )
  console.log(`stream: ${TOKENS_PER_SECOND * SECONDS} tokens in ${took.toFixed(0)} s`)
  console.log(
    `keys: ${typed}, latency p50 ${percentile(latencies, 0.5)} ms, p95 ${percentile(latencies, 0.95)} ms, p99 ${percentile(latencies, 0.99)} ms, worst ${latencies.at(-1)} ms`,
  )
  console.log(
    `long tasks (> 50 ms): ${tasks.length}, worst ${Math.max(0, ...tasks)} ms, over 100 ms: ${tasks.filter((ms) => ms > 100).length}`,
  )
  const after = await memory(page, browser)
  console.log(
    `memory before: ${memoryWords(before)}\n${heaps.map((heap) => `${heap.at} s: ${memoryWords(heap)}`).join('\n')}\nafter: ${memoryWords(after)}`,
  )
  console.log(`rows in the page: ${await chat.rows.count()}`)

  const verdict = new Verdict(`2,000 messages with 500 tool cards, ${TOKENS_PER_SECOND} tokens/s for ${SECONDS} s`)
  verdict.below('latency of keys, p95', percentile(latencies, 0.95)!, 50, 'ms')
  verdict.below('longest task', Math.max(0, ...tasks), 100, 'ms')
  // The answer itself is kept: its text, and what is known of its blocks.
  const [first, last] = [heaps[0] ?? before, heaps.at(-1) ?? after]
  verdict.below('growth of the heap while it streams', (last.bytes - first.bytes) / 1e6, 10, 'MB')
  verdict.below('growth of the page while it streams', last.nodes - first.nodes, 5_000, 'nodes')
  verdict.tell()
})

test('what the chat takes on the wire', async ({ browser, chat }) => {
  await chat.ask('Hello', 'You said: Hello')
  const files = await chatFiles(browser, chat)
  const verdict = new Verdict(`the chat in ${files.length} files`)
  verdict.below('gzip', files.reduce((sum, file) => sum + file.bytes, 0) / 1000, 350, 'kB')
  verdict.tell()
})

test('a session of 10,000 entries opens', async ({ browser, chat, page, server }) => {
  const id = await importSession(server, 'huge', { turns: 3_334, tools: 1_667 })
  await chat.newSession()
  // In the open app.
  const inApp: number[] = []
  for (let round = 0; round < 5; round++) {
    await page.goto(server.address)
    await expect(chat.field).toBeVisible()
    const began = await page.evaluate((id) => {
      history.pushState({}, '', `/s/${id}`)
      const now = performance.now()
      dispatchEvent(new PopStateEvent('popstate', { state: {} }))
      return now
    }, id)
    inApp.push((await shownAt(page)) - began)
  }
  // A new page, with what a browser that was here before has in its cache.
  const fresh: number[] = []
  for (let round = 0; round < 5; round++) {
    const context = await browser.newContext({ storageState: await page.context().storageState() })
    const other = await context.newPage()
    await other.goto(server.address)
    await expect(new Chat(other).field).toBeVisible()
    await other.goto(`${server.address}/s/${id}`)
    fresh.push(await shownAt(other))
    await context.close()
  }
  const words = (times: number[]) => times.map((ms) => `${Math.round(ms)} ms`).join(', ')
  console.log(`opened in the app: ${words(inApp)}`)
  console.log(`opened in a new page: ${words(fresh)}`)
  const verdict = new Verdict('a session of 10,000 entries opens')
  verdict.below(
    'in the app, median',
    percentile(
      inApp.toSorted((a, b) => a - b),
      0.5,
    )!,
    1000,
    'ms',
  )
  verdict.below(
    'in a new page, median',
    percentile(
      fresh.toSorted((a, b) => a - b),
      0.5,
    )!,
    1000,
    'ms',
  )
  verdict.tell()
})

/** Scrolls up until there is nothing older. */
async function loadAll(page: Page): Promise<void> {
  const scroller = page.locator('[data-region=transcript]')
  await expect(page.locator('[data-row]').first()).toBeVisible()
  await scroller.hover()
  await page.mouse.wheel(0, -200)
  await expect(async () => {
    await scroller.evaluate((box) => box.scrollTo(0, 0))
    await expect(scroller.getByText('Question 0:')).toBeVisible({ timeout: 500 })
  }).toPass({ timeout: 240_000, intervals: [50] })
}

interface Seen {
  keys: number[]
  tasks: number[]
  /** Times during which the page was held up by the measuring itself. */
  held: { from: number; to: number }[]
}

async function observe(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen: Seen = { keys: [], tasks: [], held: [] }
    Object.assign(window, { seen })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.name === 'keydown') seen.keys.push(entry.duration)
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit)
    new PerformanceObserver((list) => {
      const own = list
        .getEntries()
        .filter(
          ({ startTime, duration }) => !seen.held.some(({ from, to }) => startTime < to && startTime + duration > from),
        )
      seen.tasks.push(...own.map((entry) => entry.duration))
    }).observe({ type: 'longtask' })
  })
}

/** With BENCH_PROFILE=file, what the page spent its time on, for the browser's developer tools. */
async function startProfile(browser: CDPSession): Promise<() => Promise<void>> {
  const file = process.env.BENCH_PROFILE
  if (!file) return async () => {}
  await browser.send('Profiler.enable')
  await browser.send('Profiler.start')
  return async () => writeFileSync(file, JSON.stringify((await browser.send('Profiler.stop')).profile))
}

/** When the last answer was in the page, by the page's own clock. */
async function shownAt(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const look = () => {
          const rows = document.querySelectorAll('[data-row][data-kind=assistant]')
          if (rows.length > 0) requestAnimationFrame(() => resolve(performance.now()))
          else requestAnimationFrame(look)
        }
        look()
      }),
  )
}

interface Memory {
  bytes: number
  nodes: number
  listeners: number
}

/** What is in use once the garbage is out, which takes the page a while. */
async function memory(page: Page, browser: CDPSession): Promise<Memory> {
  await page.evaluate(() =>
    (window as unknown as { seen: Seen }).seen.held.push({ from: performance.now(), to: Infinity }),
  )
  await browser.send('HeapProfiler.collectGarbage')
  await page.evaluate(() => ((window as unknown as { seen: Seen }).seen.held.at(-1)!.to = performance.now()))
  const { usedSize } = await browser.send('Runtime.getHeapUsage')
  const { nodes, jsEventListeners } = await browser.send('Memory.getDOMCounters')
  return { bytes: usedSize, nodes, listeners: jsEventListeners }
}

const memoryWords = ({ bytes, nodes, listeners }: Memory) =>
  `${(bytes / 1e6).toFixed(1)} MB, ${nodes} nodes, ${listeners} listeners`

const percentile = (sorted: number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
