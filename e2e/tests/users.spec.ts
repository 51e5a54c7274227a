/** Users who come in by name and password. */

import type { Browser, Page } from '@playwright/test'
import type { Server } from '../support/server.ts'
import { expect, test, Watch } from '../support/test.ts'

/** A separate browser with a logged-in user, on a page of the settings. */
async function entered(
  browser: Browser,
  server: Server,
  name: string,
  password: string,
  section = 'users',
): Promise<Page> {
  const context = await browser.newContext()
  const watch = new Watch()
  watch.allow(/status of 40[01]|WebSocket/)
  await watch.on(context)
  const page = await context.newPage()
  await page.goto(`${server.address}/settings/${section}`)
  await page.getByRole('button', { name: 'Username and password' }).click()
  await page.getByLabel('Username', { exact: true }).fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.locator('.section h2').first()).toBeVisible()
  context.on('close', () => expect(watch.complaints).toEqual([]))
  return page
}

/** Makes a user, as the administrator who has the page open. */
async function make(
  page: Page,
  server: Server,
  name: string,
  password: string,
  role: 'User' | 'Administrator',
): Promise<void> {
  await page.goto(`${server.address}/settings/users`)
  await page.getByRole('button', { name: 'New user' }).press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Username').fill(name)
  await dialog.getByLabel('Password').fill(password)
  await dialog.getByText(role, { exact: true }).click()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await expect(page.locator('.records li')).toHaveCount(2)
}

test('a changed password keeps this browser logged in and logs out the others', async ({
  browser,
  chat,
  page,
  server,
}) => {
  void chat
  await make(page, server, 'ann', 'correct horse', 'Administrator')
  const elsewhere = await entered(browser, server, 'ann', 'correct horse')
  const here = await entered(browser, server, 'ann', 'correct horse')
  await here.getByRole('button', { name: 'Actions for ann' }).click()
  await here.getByRole('menuitem', { name: 'Edit' }).click()
  await expect(here.getByRole('dialog')).toContainText('logs out the user’s other browsers')
  await here.getByLabel('New password').fill('battery staple')
  await here.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(here.getByRole('dialog')).toHaveCount(0)

  const again = elsewhere.getByRole('dialog', { name: 'Log in again' })
  await again.getByRole('button', { name: 'Username and password' }).click()
  await again.getByLabel('Username', { exact: true }).fill('ann')
  await again.getByLabel('Password').fill('correct horse')
  await again.getByRole('button', { name: 'Log in' }).click()
  await expect(again.getByRole('alert')).toContainText('Wrong username or password')
  await again.getByLabel('Password').fill('battery staple')
  await again.getByRole('button', { name: 'Log in' }).click()
  await expect(again).toHaveCount(0)

  await here.reload()
  await expect(here.getByRole('button', { name: 'New user' })).toBeVisible()
  await page.reload()
  await expect(page.locator('.records li')).toHaveCount(2)
  await elsewhere.context().close()
  await here.context().close()
})

test('a user without rights to configure changes their own password, by keyboard', async ({
  browser,
  chat,
  page,
  server,
}) => {
  void chat
  await page.goto(`${server.address}/settings/account`)
  await expect(page.getByText('You have no password')).toBeVisible()
  await make(page, server, 'bob', 'correct horse', 'User')

  const elsewhere = await entered(browser, server, 'bob', 'correct horse', 'account')
  const here = await entered(browser, server, 'bob', 'correct horse', 'account')
  await here.getByLabel('Current password').focus()
  const keys = here.keyboard
  await keys.press('Enter')
  await expect(here.getByText('Enter your current password.')).toBeVisible()
  await expect(here.getByLabel('Current password')).toBeFocused()
  await keys.type('a guess at it')
  await keys.press('Tab')
  await keys.type('battery staple')
  await keys.press('Tab')
  await keys.type('battery stable')
  await keys.press('Enter')
  await expect(here.getByText('The passwords do not match.')).toBeVisible()
  await expect(here.getByLabel('Repeat new password')).toBeFocused()
  await keys.press('ControlOrMeta+a')
  await keys.type('battery staple')
  await keys.press('Enter')
  await expect(here.getByText('The current password is wrong')).toBeVisible()
  await expect(here.getByLabel('Current password')).toBeFocused()
  await keys.press('ControlOrMeta+a')
  await keys.type('correct horse')
  await keys.press('Enter')
  await expect(here.getByRole('status').filter({ hasText: 'Password changed.' })).toBeVisible()
  await expect(here.getByLabel('Current password')).toHaveValue('')

  await expect(elsewhere.getByRole('dialog', { name: 'Log in again' })).toBeVisible()
  await here.reload()
  await expect(here.getByLabel('Current password')).toBeVisible()
  await elsewhere.context().close()
  await here.context().close()
})
