/** The list of sessions: found, named, put away, and what happens in those that are not open. */

import type { Chat } from '../support/chat.ts'
import { call, Hold, hold, say } from '../support/model.ts'
import { expect, test } from '../support/test.ts'

const listed = (chat: Chat, title: string | RegExp) => chat.page.locator('.sessions li').filter({ hasText: title })

async function menu(chat: Chat, title: string, item: string): Promise<void> {
  await listed(chat, title).hover()
  await chat.page.getByRole('button', { name: `Actions for ${title}` }).click()
  await chat.page.getByRole('menuitem', { name: item, exact: true }).click()
}

test.beforeEach(async ({ chat }) => {
  await chat.ask('About apples', 'You said')
  await chat.newSession()
  await chat.ask('About pears', 'You said')
})

test('sessions are searched and renamed, in every tab', async ({ chat, page }) => {
  const other = await chat.second()
  await expect(page.locator('.sessions li')).toHaveCount(2)
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('searchbox', { name: 'Search sessions' })).toBeFocused()
  await page.keyboard.type('apples')
  await expect(page.locator('.sessions li')).toHaveText([/About apples/])
  await page.getByRole('searchbox').fill('nothing like it')
  await expect(page.getByText('No matching sessions.')).toBeVisible()
  await page.getByRole('searchbox').fill('')
  await expect(page.locator('.sessions li')).toHaveCount(2)

  await menu(chat, 'About apples', 'Rename')
  await page.getByRole('textbox', { name: 'Session title' }).fill('Orchard')
  await page.keyboard.press('Enter')
  await expect(listed(chat, 'Orchard')).toHaveCount(1)
  await expect(listed(other, 'Orchard')).toHaveCount(1)
  await page.reload()
  await expect(listed(chat, 'Orchard')).toHaveCount(1)
})

test('a session is archived, found in the archive and restored', async ({ chat, page }) => {
  await menu(chat, 'About apples', 'Archive')
  await expect(listed(chat, 'About apples')).toHaveCount(0)
  await page.getByRole('button', { name: 'Show archived sessions' }).click()
  await expect(page.locator('.sessions li')).toHaveText([/About apples/])
  await menu(chat, 'About apples', 'Restore')
  await expect(listed(chat, 'About apples')).toHaveCount(0)
  await page.getByRole('button', { name: 'Show archived sessions' }).click()
  await expect(listed(chat, 'About apples')).toHaveCount(1)
})

test('a session is deleted after a question, and its page leads on', async ({ chat, page }) => {
  const gone = page.url()
  await menu(chat, 'About pears', 'Delete')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await expect(listed(chat, 'About pears')).toHaveCount(1)
  await menu(chat, 'About pears', 'Delete')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(listed(chat, 'About pears')).toHaveCount(0)
  await expect(page).not.toHaveURL(gone)
  await page.goto(gone)
  await expect(page.getByText('Session not found')).toBeVisible()
  await expect(listed(chat, 'About apples')).toHaveCount(1)
})

test('a session is deleted at once by keyboard, and the server has nothing left of it', async ({ chat, page }) => {
  await page.getByRole('button', { name: 'Actions for About pears' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Delete permanently' }).press('Enter')
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('Permanently delete session “About pears”?')
  await dialog.getByRole('button', { name: 'Delete permanently' }).press('Enter')
  await expect(listed(chat, 'About pears')).toHaveCount(0)
  const deleted = await page.evaluate(
    async () => (await fetch('/admin/netaclaw/sessions?status=deleted')).json() as Promise<{ total: number }>,
  )
  expect(deleted.total).toBe(0)
})

test('what runs, asks or has news elsewhere is marked', async ({ chat, model, page }) => {
  const point = new Hold()
  model.next(say('working'), hold(point), call('clarify', { question: 'Which?', options: ['this', 'that'] }))
  const second = new Hold()
  model.next(hold(second), say('there you are'))
  await chat.send('Take long')
  const here = page.url()
  await expect(chat.rows.last()).toContainText('working')
  await chat.newSession()
  const row = listed(chat, 'About pears')
  await expect(row).toContainText('Running')
  point.release()
  await expect(row).toContainText('Waiting for you')
  await page.goto(here)
  await chat.questions.getByRole('button', { name: 'this' }).click()
  await second.reached
  await chat.newSession()
  await expect(row).toContainText('Running')
  second.release()
  await expect(row).toContainText('Unread')
  await row.getByRole('link').click()
  await expect(chat.rows.last()).toContainText('there you are')
  await expect(row).not.toContainText('Unread')
})

test('a new session goes by its first message while that is answered, in every tab', async ({ chat, model }) => {
  const other = await chat.second()
  await chat.newSession()
  const point = new Hold()
  model.next(say('working'), hold(point), say(' on it'))
  await chat.send('About plums')
  await expect(chat.rows.last()).toContainText('working')
  for (const tab of [chat, other]) await expect(listed(tab, 'About plums')).toContainText('Running')
  point.release()
  await chat.hasEnded('working on it')
})

test('a visit leads to the session that was open last, unless one went on to a new one', async ({
  chat,
  page,
  server,
  watch,
}) => {
  await listed(chat, 'About apples').getByRole('link').click()
  await expect(chat.rows.first()).toContainText('About apples')
  const apples = page.url()
  await page.goto(server.address)
  await expect(page).toHaveURL(apples)
  await expect(chat.rows.first()).toContainText('About apples')

  await page.getByRole('button', { name: 'New session' }).click()
  await expect(chat.rows).toHaveCount(0)
  await page.goto(server.address)
  await expect(chat.field).toBeVisible()
  await expect(page).not.toHaveURL(/\/s\//)

  // A session that is gone by then is none to go back to.
  await listed(chat, 'About apples').getByRole('link').click()
  await expect(chat.rows.first()).toContainText('About apples')
  watch.allow(/status of 404/)
  await page.goto(`${server.address}/settings`)
  await server.api('PATCH', `sessions/${apples.split('/s/')[1]!}`, { status: 'deleted' })
  await page.goto(server.address)
  await expect(page).not.toHaveURL(/\/s\//)
  await expect(chat.field).toBeVisible()
})
