/** Users who come in by name and password. */

import type { Browser, Page } from '@playwright/test'
import type { Server } from '../support/server.ts'
import { expect, test, Watch } from '../support/test.ts'

/** A browser of their own in which somebody has logged in. */
async function entered(browser: Browser, server: Server, name: string, password: string): Promise<Page> {
  const context = await browser.newContext()
  const watch = new Watch()
  watch.allow(/status of 401|WebSocket/)
  await watch.on(context)
  const page = await context.newPage()
  await page.goto(`${server.address}/settings/users`)
  await page.getByRole('button', { name: 'Name and password' }).click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByRole('button', { name: 'New user' })).toBeVisible()
  context.on('close', () => expect(watch.complaints).toEqual([]))
  return page
}

test('whoever changes their password stays where they are, and is logged out elsewhere', async ({ browser, chat, page, server }) => {
  void chat
  await page.goto(`${server.address}/settings/users`)
  await page.getByRole('button', { name: 'New user' }).press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('ann')
  await dialog.getByLabel('Password').fill('correct horse')
  await dialog.getByText('Administrator').click()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await expect(page.locator('.records li')).toHaveCount(2)

  const elsewhere = await entered(browser, server, 'ann', 'correct horse')
  const here = await entered(browser, server, 'ann', 'correct horse')
  await here.getByRole('button', { name: 'Actions for ann' }).click()
  await here.getByRole('menuitem', { name: 'Edit' }).click()
  await expect(here.getByRole('dialog')).toContainText('logs out the other browsers')
  await here.getByLabel('New password').fill('battery staple')
  await here.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(here.getByRole('dialog')).toHaveCount(0)

  const again = elsewhere.getByRole('dialog', { name: 'Log in again' })
  await again.getByRole('button', { name: 'Name and password' }).click()
  await again.getByLabel('Name', { exact: true }).fill('ann')
  await again.getByLabel('Password').fill('correct horse')
  await again.getByRole('button', { name: 'Log in' }).click()
  await expect(again.getByRole('alert')).toContainText('The name or the password is wrong')
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
