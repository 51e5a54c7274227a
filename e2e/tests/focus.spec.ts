/** The keyboard has a place at any time: after a dialog, a rename, a deletion, a mistake. */

import { expect, test } from '../support/test.ts'

test('renaming in the header keeps its place, and Escape keeps the name', async ({ chat, page }) => {
  await chat.ask('About apples', 'About apples')
  const title = page.locator('h1 button')
  await title.press('Enter')
  await page.keyboard.type('Apples and pears')
  await page.keyboard.press('Enter')
  await expect(title).toHaveText('Apples and pears')
  await expect(title).toBeFocused()
  await page.keyboard.press('Enter')
  await page.keyboard.type('Something else')
  await page.keyboard.press('Escape')
  await expect(title).toHaveText('Apples and pears')
  await expect(title).toBeFocused()
})

test('a session is deleted by keyboard, and the keys go on at the next one', async ({ chat, page }) => {
  for (const name of ['apples', 'pears', 'plums']) {
    await chat.newSession()
    await chat.ask(`About ${name}`, `About ${name}`)
  }
  const links = page.locator('.session a')
  await expect(links).toHaveText([/plums/, /pears/, /apples/])
  const menu = page.getByRole('button', { name: 'Actions for About pears' })
  await menu.focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('Delete session “About pears”?')
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(menu).toBeFocused()
  await page.keyboard.press('Enter')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Delete' }).press('Enter')
  await expect(links).toHaveText([/plums/, /apples/])
  await expect(links.nth(1)).toBeFocused()
  await expect(page.getByRole('button', { name: 'Show more' })).toHaveCount(0)
})

test('what the server rejects is shown next to its field, which has the focus', async ({
  chat,
  page,
  server,
  watch,
}) => {
  void chat
  watch.allow(/status of 40[09]/)
  await page.goto(`${server.address}/agents/new`)
  const name = page.getByLabel('Name').first()
  await name.fill('default')
  await page.getByRole('button', { name: 'Create' }).press('Enter')
  await expect(page.locator('main [data-wrong]')).toContainText('The name "default" is already used by another agent')
  await expect(name).toBeFocused()

  await page.goto(`${server.address}/settings/users`)
  await page.getByRole('button', { name: 'New user' }).press('Enter')
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByLabel('Username')).toBeFocused()
  await page.keyboard.type('admin')
  await page.keyboard.press('Enter')
  await expect(dialog.locator('[data-wrong]')).toContainText('is already used by another user')
  await expect(dialog.getByLabel('Username')).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'New user' })).toBeFocused()
})

test('a new token is at hand, and a deleted record leaves the keys on its page', async ({ chat, page, server }) => {
  void chat
  await page.goto(`${server.address}/settings/tokens`)
  await page.getByRole('button', { name: 'New token' }).press('Enter')
  await page.keyboard.type('a robot')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Copy' })).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'New token' })).toBeFocused()

  await page.goto(`${server.address}/channels`)
  await page.getByRole('button', { name: 'Actions for demo' }).press('Enter')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter')
  await expect(page.locator('.records li')).toHaveCount(1)
  await expect(page.locator('main')).toBeFocused()
})

test('a new chat has the focus in the composer', async ({ chat, page }) => {
  await expect(chat.field).toBeFocused()
  await chat.ask('About apples', 'About apples')
  await page.getByRole('button', { name: 'New session', exact: true }).click()
  await expect(chat.field).toBeFocused()
})

test('the menu of a phone takes the keys and gives them back', async ({ chat, page, server }) => {
  void chat
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(`${server.address}/agents`)
  const open = page.getByRole('button', { name: 'Open menu' })
  await open.press('Enter')
  await expect(page.getByRole('navigation').getByRole('button', { name: 'New session', exact: true })).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(open).toBeFocused()
})
