/** Links that log in, as a browser follows them. */

import { expect, test } from '../support/test.ts'

const FOREIGN = 'http://another-site.test/'

test('a link on another site asks before it logs in', async ({ page, server, watch }) => {
  watch.allow(/status of 401/)
  await page.route(`${FOREIGN}**`, (route) =>
    route.fulfill({ contentType: 'text/html', body: `<a href="${server.link}">Free cookies</a>` }),
  )
  await page.goto(FOREIGN)
  await page.getByRole('link').click()
  await expect(page.getByRole('heading')).toHaveText('Log in to NetaClaw?')
  await expect(page.getByText('as admin (administrator)')).toBeVisible()

  await page.getByRole('link', { name: 'Cancel' }).click()
  await expect(page.getByLabel('Access token')).toBeVisible()
  expect(await page.context().cookies(server.address)).toEqual([])

  await page.goto(FOREIGN)
  await page.getByRole('link').click()
  await page.getByRole('button', { name: 'Log in as' }).click()
  await expect(page.locator('[data-region=composer] textarea')).toBeVisible()
  expect(page.url()).not.toContain('token')
})

test('a link to another user asks who one wants to be', async ({ chat, server }) => {
  const user = await server.api<{ id: string }>('POST', 'users', { name: 'ann', role: 'user' })
  const token = await server.api<{ secret: string }>('POST', 'tokens', {
    userId: user.id,
    label: 'link',
    scope: 'full',
  })
  const page = chat.page
  await page.goto(`${server.address}/?token=${token.secret}`)
  await expect(page.getByText('is logged in as')).toBeVisible()
  await page.getByRole('button', { name: 'Log in as ann' }).click()
  await expect(page.locator('[data-region=composer] textarea')).toBeVisible()
  const me = await page.evaluate(async () => (await fetch('/admin/netaclaw/me')).json() as Promise<{ name: string }>)
  expect(me.name).toBe('ann')
})
