/** Agents, channels, settings and the way in. */

import { expect, test, Watch } from '../support/test.ts'
import { TOKEN } from '../support/server.ts'

test('an agent is made, changed and found again', async ({ chat, page, server }) => {
  await page.goto(`${server.address}/agents`)
  await page.getByRole('link', { name: 'New agent' }).click()
  await page.getByLabel('Name', { exact: false }).first().fill('helper')
  await page.getByLabel('Instructions').fill('Be brief.')
  await page.getByRole('button', { name: 'Create' }).click()
  await expect(page).toHaveURL(/\/agents\/(?!new)/)
  await page.getByLabel('Description').fill('Helps')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByRole('status').filter({ hasText: 'Saved' })).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Description')).toHaveValue('Helps')
  await page.getByRole('tab', { name: 'Prompt preview' }).click()
  await expect(page.getByText('Be brief.').first()).toBeVisible()
  await chat.newSession()
  await page.getByRole('button', { name: /^Agent:/ }).click()
  await page.getByRole('option', { name: /helper/ }).click()
  await expect(chat.field).toHaveAttribute('placeholder', /helper/)
})

test('two editors do not overwrite each other', async ({ chat, page, server }) => {
  void chat
  const { items } = await server.api<{ items: { id: string }[] }>('GET', 'agents')
  const address = `${server.address}/agents/${items[0]!.id}`
  const other = await page.context().newPage()
  for (const one of [page, other]) {
    await one.goto(address)
    await expect(one.getByLabel('Description')).toBeVisible()
  }
  await other.getByLabel('Description').fill('From the other')
  await other.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(other.getByRole('status').filter({ hasText: 'Saved' })).toBeVisible()
  await page.getByLabel('Instructions').fill('From the first')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Somebody else was faster' })
  await expect(dialog).toContainText('From the other')
  await dialog.getByRole('button', { name: 'Keep mine and save' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'Saved' })).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Description')).toHaveValue('From the other')
  await expect(page.getByLabel('Instructions')).toHaveValue('From the first')
})

test('a channel is tested, also one that does not work', async ({ chat, page, server, model }) => {
  void chat
  await page.goto(`${server.address}/channels`)
  await page.getByRole('button', { name: 'Test fake' }).click()
  await expect(page.getByText(/Works, answered in/)).toBeVisible()
  await page.getByRole('link', { name: 'fake', exact: true }).click()
  await page.getByLabel('Address').fill(model.address.replace(/:\d+/, ':9'))
  await page.getByRole('button', { name: 'Test connection' }).click()
  await expect(page.getByRole('status').filter({ hasText: /Does not work|could not|reach/i }).first()).toBeVisible()
  await page.getByRole('button', { name: 'Discard changes' }).click()
  await expect(page.getByLabel('Address')).toHaveValue(model.address)
})

test('a token is made, works, and stops working when it is revoked', async ({ browser, chat, page, server }) => {
  void chat
  await page.goto(`${server.address}/settings/tokens`)
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByLabel('What it is for').fill('a robot')
  await page.getByRole('button', { name: 'Make token' }).click()
  const secret = (await page.getByRole('dialog').locator('.secret code').textContent())!
  await page.getByRole('button', { name: 'Done' }).click()

  const context = await browser.newContext()
  const watch = new Watch()
  watch.allow(/status of 401|WebSocket/)
  await watch.on(context)
  const visitor = await context.newPage()
  await visitor.goto(server.address)
  await expect(visitor).toHaveURL(/\/login/)
  await visitor.getByLabel('Access token').fill('wrong')
  await visitor.getByRole('button', { name: 'Log in' }).click()
  await expect(visitor.getByRole('alert')).toContainText('does not know this token')
  await visitor.getByLabel('Access token').fill(secret)
  await visitor.getByRole('button', { name: 'Log in' }).click()
  await expect(visitor.locator('[data-region=composer] textarea')).toBeVisible()

  await page.getByRole('button', { name: 'Revoke a robot' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(page.locator('.records')).toContainText('Revoked')
  await visitor.reload()
  await expect(visitor).toHaveURL(/\/login/)
  expect(watch.complaints).toEqual([])
  await context.close()
})

test('the whole link is as good as the token, and logging out ends it', async ({ page, server, watch }) => {
  watch.allow(/status of 401/)
  await page.goto(`${server.address}/settings`)
  await expect(page).toHaveURL(/\/login\?from=/)
  await page.getByLabel('Access token').fill(`${server.address}/?token=${TOKEN}`)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page).toHaveURL(/\/settings/)
  await page.getByRole('button', { name: 'Log out' }).click()
  await expect(page).toHaveURL(/\/login/)
  await page.goto(server.address)
  await expect(page).toHaveURL(/\/login/)
})

test('language and theme change at once and stay', async ({ chat, page, server }) => {
  void chat
  await page.goto(`${server.address}/settings`)
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await background()
  await page.locator('main').getByText('Dark', { exact: true }).click()
  await expect.poll(background).not.toBe(light)
  await page.getByRole('button', { name: /^Language/ }).click()
  await expect(page.getByRole('heading', { name: '设置' })).toBeVisible()
  await expect(page.locator('html')).toHaveAttribute('lang', /^zh/)
  const dark = await background()
  await page.reload()
  await expect(page.getByRole('heading', { name: '设置' })).toBeVisible()
  expect(await background()).toBe(dark)
})

test('the chat is at most 350 kB on the wire', async ({ browser, chat, server }) => {
  await chat.ask('Hello', 'You said: Hello')
  const address = chat.page.url()
  const context = await browser.newContext({ storageState: await chat.page.context().storageState() })
  const page = await context.newPage()
  const files = new Set<string>()
  page.on('response', (response) => {
    if (/\.(js|css)$/.test(new URL(response.url()).pathname)) files.add(response.url())
  })
  await page.goto(address)
  await expect(page.locator('[data-kind=assistant]')).toBeVisible()
  let bytes = 0
  for (const file of files) {
    const response = await fetch(file, { headers: { 'accept-encoding': 'gzip' } })
    expect(response.headers.get('content-encoding'), file).toBe('gzip')
    bytes += Number(response.headers.get('content-length'))
  }
  expect(files.size).toBeGreaterThan(0)
  expect(bytes).toBeLessThanOrEqual(350_000)
  console.log(`the chat takes ${bytes} bytes of gzip in ${files.size} files`)
  expect(new URL(address).origin).toBe(server.address)
  await context.close()
})
