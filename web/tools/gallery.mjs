/**
 * Looks at the gallery in a real browser: a screenshot of each part in both themes, both languages and phone width,
 * what axe finds, and what hostile texts do. Fails on a finding, a message in the console, or anything that ran.
 *
 *   node tools/gallery.mjs [folder for the screenshots]
 */

import axe from 'axe-core'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { createServer } from 'vite'

const folder = process.argv[2] ?? 'test-results/gallery'
const only = process.argv[3]
const VIEWS = [
  { name: 'light-en', theme: 'light', lang: 'en', width: 1100 },
  { name: 'dark-zh', theme: 'dark', lang: 'zh', width: 1100 },
  { name: 'phone-zh', theme: 'light', lang: 'zh', width: 390 },
  { name: 'phone-dark-en', theme: 'dark', lang: 'en', width: 390 },
]

mkdirSync(folder, { recursive: true })
const server = await createServer({ server: { port: 0, host: '127.0.0.1' }, logLevel: 'error' })
await server.listen()
const address = server.resolvedUrls.local[0]
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
})

/** Tall enough for any part: a screenshot of more than the window drops the emulation of touch. */
const HEIGHT = 3600
const problems = []

for (const view of VIEWS) {
  if (only && view.name !== only) continue
  const phone = view.width < 500
  const context = await browser.newContext({
    viewport: { width: view.width, height: HEIGHT },
    hasTouch: phone,
    isMobile: phone,
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`${view.name}: console: ${message.text()}`)
  })
  page.on('pageerror', (error) => problems.push(`${view.name}: page: ${error.message}`))
  await page.goto(`${address}gallery.html?theme=${view.theme}&lang=${view.lang}`)
  await page.locator('.katex').first().waitFor({ timeout: 60_000 })
  await page.locator('.drawing img').first().waitFor({ timeout: 60_000 })
  await page.locator('.problem span').first().waitFor({ timeout: 60_000 })
  await page.evaluate(() =>
    document.querySelectorAll('.open-me > button[aria-expanded=false]').forEach((button) => button.click()),
  )
  await page.evaluate(() => document.activeElement?.blur())

  for (const part of await page.locator('[data-part]').all()) {
    await part.screenshot({ path: join(folder, `${await part.getAttribute('data-part')}-${view.name}.png`) })
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  if (wide > 0) problems.push(`${view.name}: the page is ${wide} px wider than the window`)

  await page.evaluate(axe.source)
  const found = await page.evaluate(() =>
    window.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }),
  )
  for (const { id, impact, help, nodes } of found.violations) {
    // The gallery is many pages in one: it has several headings and regions of each kind.
    if (['landmark-unique', 'heading-order', 'region', 'landmark-complementary-is-top-level'].includes(id)) continue
    problems.push(
      `${view.name}: axe ${impact} ${id}: ${help}\n    ${nodes
        .slice(0, 4)
        .map((node) => `${node.target} ${node.any?.[0]?.message ?? ''}`)
        .join('\n    ')}`,
    )
  }
  await page.locator('button', { hasText: 'Keys' }).click()
  await page.screenshot({ path: join(folder, `keys-${view.name}.png`) })
  await context.close()
}

if (!only) await watchHostile()

async function watchHostile() {
  const page = await browser.newPage()
  const harm = (what) => problems.push(`hostile: ${what}`)
  await page.exposeFunction('pwned', () => harm('a script ran'))
  page.on('request', (request) => {
    if (
      !request.url().startsWith(address) &&
      /^(https?|wss?):/.test(request.url()) &&
      !request.url().includes('127.0.0.1')
    )
      harm(`asked for ${request.url()}`)
  })
  page.on('popup', () => harm('opened a window'))
  await page.goto(`${address}gallery.html?hostile`)
  await page.locator('[data-part=hostile] .diagram').first().waitFor()
  await page.evaluate(() =>
    document.querySelectorAll('.open-me > button[aria-expanded=false]').forEach((button) => button.click()),
  )
  // Each diagram ends as a drawing or as a problem.
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll('[data-part=hostile] .diagram')].every((one) => one.querySelector('img, .problem')),
    null,
    { timeout: 120_000 },
  )
  const left = await page.evaluate(() => {
    const part = document.querySelector('[data-part=hostile]')
    const attributes = [...part.querySelectorAll('*')].flatMap((element) =>
      [...element.attributes].map((one) => `${one.name}=${one.value}`),
    )
    return [
      ...[...part.querySelectorAll('script, iframe, object, embed, form:not([aria-label]), style, [srcdoc]')].map(
        (element) => element.outerHTML,
      ),
      ...attributes.filter((one) => /^on|^(href|src|action)=\s*(javascript|vbscript|data:text)/i.test(one)),
    ]
  })
  left.forEach((what) => harm(`left in the page: ${what}`))
  const drawn = await page.locator('[data-part=hostile] .drawing img').count()
  if (drawn === 0) harm('no diagram was drawn: the test shows nothing')
  await page.screenshot({ path: join(folder, 'hostile.png'), fullPage: true })
  await page.close()
}

await browser.close()
await server.close()
for (const problem of problems) console.log(problem)
process.exitCode = problems.length > 0 ? 1 : 0
