/** Words are found anywhere in a conversation, of which the page holds only a part. */

import { importSession } from '../support/long.ts'
import { call, words } from '../support/model.ts'
import { expect, test } from '../support/test.ts'
import type { Page } from '@playwright/test'

const bar = (page: Page) => page.getByRole('search', { name: 'Find in this session' })
const field = (page: Page) => bar(page).getByRole('textbox')
const result = (page: Page) => bar(page).getByRole('status')
/** The text that is marked as the one the reader is at, if it is in view. */
const current = (page: Page) =>
  page.evaluate(() => {
    const range = [...(CSS.highlights.get('nc-found-current') ?? [])][0] as Range | undefined
    if (!range) return null
    const { top, bottom } = range.getBoundingClientRect()
    const box = document.querySelector('[data-region=transcript]')!.getBoundingClientRect()
    const row = range.startContainer.parentElement?.closest('[data-row]')
    return top >= box.top && bottom <= box.bottom ? `${range}: ${row?.textContent?.slice(0, 12)}` : 'out of view'
  })

test('in the whole of a long session, also in what is not loaded; next, previous, back', async ({
  chat,
  page,
  server,
}) => {
  const id = await importSession(server, 'long', { turns: 600, tools: 30 })
  await page.goto(`${server.address}/s/${id}`)
  await expect(chat.rows.last()).toContainText('Part 599')
  await chat.field.focus()
  await page.keyboard.press('Control+f')
  await expect(field(page)).toBeFocused()
  await field(page).fill('question 7:')
  await expect(result(page)).toHaveText('1 of 1')
  await expect.poll(() => current(page)).toContain('Question 7:')

  // Of several, one after the other and around.
  await field(page).fill('QUESTION 59')
  await expect(result(page)).toHaveText(/^\d+ of 11$/)
  const first = await result(page).textContent()
  await field(page).press('Enter')
  await expect(result(page)).not.toHaveText(first!)
  await field(page).press('Shift+Enter')
  await expect(result(page)).toHaveText(first!)
  for (let step = 0; step < 11; step++) await field(page).press('Enter')
  await expect(result(page)).toHaveText(first!)
  await expect.poll(() => current(page)).toMatch(/^Question 59/)

  await field(page).fill('no such words')
  await expect(result(page)).toHaveText('No matches')
  await field(page).press('Escape')
  await expect(bar(page)).toHaveCount(0)
  await expect(chat.field).toBeFocused()
  expect(await page.evaluate(() => CSS.highlights.size)).toBe(0)
})

test('what is folded away is opened where it is found', async ({ chat, model, page }) => {
  model.next(call('ls', { path: '.' }), call('todo', { items: [{ text: 'Find the needle', status: 'pending' }] }))
  model.next(...words('There is **nothing special** here.'))
  await chat.ask('Look around', 'nothing special')
  await expect(page.locator('.tool')).toHaveCount(0)
  await page.getByRole('button', { name: 'Find in this session' }).click()
  await field(page).fill('needle')
  await expect(page.locator('.tool[data-open]')).toContainText('Find the needle')
  await expect.poll(() => current(page)).toMatch(/^needle/)
  await field(page).fill('is nothing special here')
  await expect(result(page)).toHaveText('1 of 1')
  await expect.poll(() => current(page)).toMatch(/^is nothing special here/)
})

test("the browser's own search is there when the key is pressed twice", async ({ chat, model, page }) => {
  model.next(...words('An answer.'))
  await chat.ask('A question', 'An answer.')
  // Whether the page has taken each press for itself.
  await page.evaluate(() => {
    const taken: boolean[] = []
    Object.assign(window, { taken })
    window.addEventListener(
      'keydown',
      (event) => event.key === 'f' && queueMicrotask(() => taken.push(event.defaultPrevented)),
    )
  })
  const taken = () => page.evaluate(() => (window as unknown as { taken: boolean[] }).taken)
  await page.keyboard.press('Control+f')
  await expect(field(page)).toBeFocused()
  await page.keyboard.press('Control+f')
  expect(await taken()).toEqual([true, false])
})
