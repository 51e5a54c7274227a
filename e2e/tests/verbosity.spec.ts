/** How much of the work is shown; what went wrong always is. */

import { call, words } from '../support/model.ts'
import { expect, test } from '../support/test.ts'

test('answers only, steps folded, or everything: an answer and a failure are in each', async ({
  chat,
  model,
  page,
}) => {
  model.next(call('ls', { path: '.' }), call('read', { path: 'no-such-file.txt' }))
  model.next(...words('It is not there.'))
  await chat.ask('Read it', 'It is not there.')
  const choose = async (name: string) => {
    await page.getByRole('button', { name: 'Level of detail' }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  const cards = page.locator('.tool')
  const shown = {
    'Answers only': async () => await expect(cards).toHaveCount(1),
    Everything: async () => await expect(cards).toHaveCount(2),
    'Collapsed steps': async () => await expect(page.locator('.activity .line')).toHaveCount(1),
  }
  for (const [name, check] of Object.entries(shown)) {
    await choose(name)
    await check()
    await expect(chat.rows.last()).toContainText('It is not there.')
    await expect(page.getByText(/no-such-file\.txt/).first()).toBeVisible()
  }
  await choose('Everything')
  await chat.reload()
  await expect(cards).toHaveCount(2)
})

test('what one session is doing is not shown on another', async ({ chat, model, page }) => {
  await chat.ask('About apples', 'About apples')
  const quiet = page.url()
  await chat.newSession()
  model.next(call('clarify', { question: 'Which colour?', options: ['red', 'blue'] }))
  await chat.send('Paint it')
  await expect(chat.questions).toBeVisible()
  await page.locator('.session a').filter({ hasText: 'apples' }).click()
  await expect(page).toHaveURL(quiet)
  await expect(chat.rows.last()).toContainText('About apples')
  await expect(chat.questions).toHaveCount(0)
  await expect(chat.stopButton).toHaveCount(0)
  await expect(page.locator('.run')).toHaveCount(0)
  await chat.ask('More', 'You said: More')
  await page.locator('.session a').filter({ hasText: 'Paint' }).click()
  await expect(chat.questions).toBeVisible()
  await expect(chat.stopButton).toBeVisible()
})
