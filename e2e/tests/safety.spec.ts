/** Hostile texts wherever a text can come from: nothing runs, and no dialog appears. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { HOSTILE, HOSTILE_DIAGRAMS } from '../../web/src/gallery/hostile.ts'
import { call, say } from '../support/model.ts'
import { expect, test } from '../support/test.ts'

const MARKUP = '<img src=x onerror=pwned()><script>pwned()</script>'

test.beforeEach(async ({ page, server }) => {
  const harm: string[] = []
  await page.exposeFunction('pwned', () => harm.push('a script ran'))
  page.on('popup', () => harm.push('a window was opened'))
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (/^(https?|wss?):$/.test(protocol) && origin.replace('ws:', 'http:') !== server.address)
      harm.push(`asked for ${request.url()}`)
  })
  Object.assign(page, { harm })
})

test.afterEach(({ page }) => {
  expect((page as unknown as { harm: string[] }).harm).toEqual([])
})

/** What sanitising must not leave behind. */
async function isClean(page: Page): Promise<void> {
  const left = await page.evaluate(() => {
    const attributes = [...document.querySelectorAll('#app *')].flatMap((element) =>
      [...element.attributes].map((one) => `${one.name}=${one.value}`),
    )
    return [
      ...[...document.querySelectorAll('#app :is(script, iframe, object, embed, [srcdoc])')].map(
        (element) => element.outerHTML,
      ),
      ...attributes.filter((one) => /^on|^(href|src|action)=\s*(javascript|vbscript|data:text)/i.test(one)),
    ]
  })
  expect(left).toEqual([])
}

test('in messages of both sides', async ({ chat, model, page, watch }) => {
  // A picture of this server, which does not have it.
  watch.allow(/404.*\/a\.png/)
  const half = Math.ceil(HOSTILE.length / 2)
  for (const part of [HOSTILE.slice(0, half), HOSTILE.slice(half)]) {
    const text = part.join('\n\n')
    model.next(say(`${text}\n\nthe end`))
    await chat.ask(text, 'the end')
    await isClean(page)
  }
  await chat.reload()
  await expect(chat.rows.last()).toContainText('the end')
  await isClean(page)
})

test('in diagrams', async ({ chat, model, page }) => {
  model.next(say(`${HOSTILE_DIAGRAMS.join('\n\n')}\n\nthe end`))
  await chat.ask('Draw', 'the end')
  await expect
    .poll(
      () =>
        page.evaluate(
          () => [...document.querySelectorAll('.diagram')].filter((one) => !one.querySelector('img, .problem')).length,
        ),
      { timeout: 60_000 },
    )
    .toBe(0)
  await expect(page.locator('.diagram .drawing img').first()).toBeVisible()
  await isClean(page)
})

test('in names of files, tool output, titles, labels, questions and lists', async ({ chat, model, page, server }) => {
  const workspace = join(server.place, 'hostile')
  await server.useAgent({ workspace })
  writeFileSync(join(workspace, '<img src=x onerror=pwned()>.txt'), MARKUP)

  model.next(
    call('ls', { path: '.' }),
    call('read', { path: '<img src=x onerror=pwned()>.txt' }),
    call('todo', { items: [{ text: MARKUP, status: 'pending' }] }),
  )
  model.next(call('clarify', { question: MARKUP, options: [MARKUP, 'fine'] }))
  model.next(say('the end'))
  await chat.send(MARKUP)
  await expect(chat.questions).toBeVisible()
  await isClean(page)
  await chat.questions.getByRole('button', { name: 'fine' }).click()
  await chat.hasEnded('the end')
  await chat.choose(chat.rows.last(), 'Add label')
  await chat.label(MARKUP)
  await chat.field.fill(`/rename ${MARKUP}`)
  await chat.field.press('Enter')
  await expect(page).toHaveTitle(new RegExp('<img src=x'))

  // Everything open, so that every part is drawn.
  const closed = chat.rows.locator('button[aria-expanded=false]:not([aria-haspopup])')
  while ((await closed.count()) > 0) await closed.first().click()
  await expect(chat.page.locator('.tool').first()).toBeVisible()
  await page.getByRole('button', { name: 'Session tree', exact: true }).click()
  await expect(chat.tree.getByRole('treeitem').first()).toBeVisible()
  await isClean(page)
  await chat.reload()
  await isClean(page)
})

test('in the name of an attached file', async ({ chat, page }) => {
  await page
    .locator('[data-region=composer] input[type=file]')
    .setInputFiles({ name: '<img src=x onerror=pwned()>.txt', mimeType: 'text/plain', buffer: Buffer.from(MARKUP) })
  await expect(page.getByText('<img src=x onerror=pwned()>.txt').first()).toBeVisible()
  await isClean(page)
  await chat.ask('Look at this', 'You said')
  await isClean(page)
})

test('the policy lets no inline script run', async ({ chat, page }) => {
  const response = await page.goto(chat.page.url())
  const policy = response!.headers()['content-security-policy'] ?? ''
  const scripts =
    policy
      .split(';')
      .map((part) => part.trim())
      .find((part) => part.startsWith('script-src')) ?? policy.split(';')[0]!
  expect(scripts).not.toContain('unsafe-inline')
  expect(scripts).not.toContain('unsafe-eval')
  expect(policy).toMatch(/default-src 'self'|default-src 'none'/)
  expect(policy).toContain("object-src 'none'")
})
