/** Agents, channels, settings and the way in. */

import { Chat } from '../support/chat.ts'
import { chatFiles } from '../support/pages.ts'
import { Server, TOKEN } from '../support/server.ts'
import { expect, test, Watch } from '../support/test.ts'

test('an agent is made, changed and found again', async ({ chat, page, server }) => {
  await page.goto(`${server.address}/agents`)
  await page.getByRole('link', { name: 'New agent' }).click()
  await page.getByLabel('Name', { exact: false }).first().fill('helper')
  await page.getByLabel('Instructions').fill('Be brief.')
  await page.getByRole('button', { name: 'Create' }).click()
  await expect(page).toHaveURL(/\/agents\/(?!new)/)
  await page.getByLabel('Description').fill('Helps')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByRole('status').filter({ hasText: /^\s*Saved/ })).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Description')).toHaveValue('Helps')
  await page.getByRole('tab', { name: 'Prompt preview' }).click()
  await expect(page.getByText('Be brief.').first()).toBeVisible()
  await chat.newSession()
  await page.getByRole('button', { name: /^Agent:/ }).click()
  await page.getByRole('option', { name: /helper/ }).click()
  await expect(chat.field).toHaveAttribute('placeholder', /helper/)
})

test('two editors do not overwrite each other', async ({ chat, page, server, watch }) => {
  void chat
  watch.allow(/status of 412/)
  const { items } = await server.api<{ items: { id: string }[] }>('GET', 'agents')
  const address = `${server.address}/agents/${items[0]!.id}`
  const other = await page.context().newPage()
  for (const one of [page, other]) {
    await one.goto(address)
    await expect(one.getByLabel('Description')).toBeVisible()
  }
  await other.getByLabel('Description').fill('From the other')
  await other.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(other.getByRole('status').filter({ hasText: /^\s*Saved/ })).toBeVisible()
  await page.getByLabel('Instructions').fill('From the first')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edited by someone else' })
  await expect(dialog).toContainText('From the other')
  await dialog.getByRole('button', { name: 'Keep mine and save' }).click()
  await expect(page.getByRole('status').filter({ hasText: /^\s*Saved/ })).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Description')).toHaveValue('From the other')
  await expect(page.getByLabel('Instructions')).toHaveValue('From the first')
})

test('nor do two editors of the defaults', async ({ chat, page, server, watch }) => {
  void chat
  watch.allow(/status of 412/)
  await server.api('PUT', 'dictionary-values/shop/greeting', { value: 'Hello' })
  await server.api('PUT', 'dictionary-values/shop/farewell', { value: 'Bye' })
  const other = await page.context().newPage()
  for (const one of [page, other]) {
    await one.goto(`${server.address}/settings/defaults`)
    await expect(one.getByLabel('greeting')).toHaveValue('Hello')
  }
  await other.getByLabel('greeting').fill('Hi')
  await other.getByLabel('farewell').fill('See you')
  await other.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(other.getByRole('status').filter({ hasText: /^\s*Saved/ })).toBeVisible()
  await page.getByLabel('greeting').fill('Good morning')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edited by someone else' })
  await expect(dialog).toContainText('Hi')
  await dialog.getByRole('button', { name: 'Keep mine and save' }).click()
  await expect(page.getByRole('status').filter({ hasText: /^\s*Saved/ })).toBeVisible()
  await expect(page.getByLabel('farewell')).toHaveValue('See you')
  await page.reload()
  await expect(page.getByLabel('greeting')).toHaveValue('Good morning')
  await expect(page.getByLabel('farewell')).toHaveValue('See you')
})

test('from the demo model to a real one', async ({ model, page }) => {
  const server = new Server()
  try {
    await server.start()
    await page.goto(server.link)
    await expect(page.getByText(/demo model/)).toHaveCount(1)
    await page.getByRole('link', { name: 'Connect a model' }).click()
    await page.getByRole('radiogroup').getByText('compatible', { exact: false }).click()
    await page.getByLabel('Base URL').fill(model.address)
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByRole('button', { name: 'Save and start chatting' }).click()
    await expect(page).toHaveURL(/\/$/)
    const chat = new Chat(page)
    await chat.ask('Hello', 'You said: Hello')
    await expect(page.getByText(/demo model/)).toHaveCount(0)
  } finally {
    await server.remove()
  }
})

test('a channel is tested, also one that does not work', async ({ chat, page, server, model }) => {
  void chat
  await page.goto(`${server.address}/channels`)
  await page.getByRole('button', { name: 'Test fake' }).click()
  await expect(page.getByText(/Connected in/)).toBeVisible()
  await page.getByRole('link', { name: 'fake', exact: true }).click()
  await page.getByLabel('Base URL').fill(model.address.replace(/:\d+/, ':9'))
  await page.getByRole('button', { name: 'Test connection' }).click()
  await expect(
    page
      .getByRole('status')
      .filter({ hasText: /Does not work|could not|reach/i })
      .first(),
  ).toBeVisible()
  await page.getByRole('button', { name: 'Discard changes' }).click()
  await expect(page.getByLabel('Base URL')).toHaveValue(model.address)
})

test('a channel is not made without the key that its supplier asks for', async ({ chat, page, server }) => {
  void chat
  await page.goto(`${server.address}/channels/new`)
  await page.getByRole('button', { name: 'Create' }).click()
  await expect(page.getByText('This supplier requires a key')).toHaveCount(1)
  await expect(page).toHaveURL(/channels\/new/)
  await page.getByLabel('API key').fill('sk-e2e-0123456789')
  await expect(page.getByText('This supplier requires a key')).toHaveCount(0)
  await page.getByRole('button', { name: 'Create' }).click()
  await expect(page).toHaveURL(/\/channels\/(?!new)/)
})

test('main and auxiliary channels are distinguished, and can be filtered', async ({ chat, page, server }) => {
  void chat
  await page.goto(`${server.address}/channels`)
  const rows = page.locator('.records li')
  await expect(rows).toHaveCount(2)
  await rows.filter({ hasText: 'fake' }).getByRole('link').click()
  await page.getByRole('switch', { name: 'Auxiliary channel' }).press('Space')
  // The button is disabled while it saves too, and who loads another page then takes the request back.
  const saved = page.waitForResponse((response) => response.request().method() === 'PUT' && response.ok())
  await page.getByRole('button', { name: 'Save' }).click()
  await saved
  await page.goto(`${server.address}/channels`)
  await expect(rows.filter({ hasText: 'fake' })).toContainText('Auxiliary')
  await expect(rows.filter({ hasText: 'demo' })).toContainText('Main')
  const filter = page.getByRole('radiogroup', { name: 'Filter channels' })
  await filter.getByText('Auxiliary').click()
  await expect(rows).toHaveCount(1)
  await expect(rows).toContainText('fake')
  await filter.getByText('Main').click()
  await expect(rows).toHaveCount(1)
  await expect(rows).toContainText('demo')

  // Only an auxiliary channel can have the auxiliary model.
  await page.goto(`${server.address}/settings/defaults`)
  await page.getByRole('combobox', { name: 'Channel' }).click()
  await expect(page.getByRole('option')).toHaveText([/agent/, 'fake'])
})

test('a token is created, logs a user in, and out again when it is revoked', async ({
  browser,
  chat,
  page,
  server,
}) => {
  void chat
  await page.goto(`${server.address}/settings/tokens`)
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByLabel('Purpose').fill('a robot')
  await page.getByRole('button', { name: 'Create token' }).click()
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
  await expect(visitor.getByRole('alert')).toContainText('Invalid token')
  await visitor.getByLabel('Access token').fill(secret)
  await visitor.getByRole('button', { name: 'Log in' }).click()
  const draft = visitor.locator('[data-region=composer] textarea')
  await draft.fill('What I was about to say')

  await page.getByRole('button', { name: 'Revoke a robot' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(page.locator('.records li').filter({ hasText: 'a robot' }).first()).toContainText('Revoked')
  // The browser that came in with it is out as well, without having asked for anything; its page stays as it is.
  const again = visitor.getByRole('dialog', { name: 'Log in again' })
  await again.getByLabel('Access token').fill(secret)
  await again.getByRole('button', { name: 'Log in' }).click()
  await expect(again.getByRole('alert')).toContainText('Invalid token')
  await again.getByLabel('Access token').fill(TOKEN)
  await again.getByRole('button', { name: 'Log in' }).click()
  await expect(again).toHaveCount(0)
  await expect(draft).toHaveValue('What I was about to say')
  await draft.press('Enter')
  await expect(visitor.locator('[data-row][data-kind=assistant]')).toContainText('What I was about to say')
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

test('an invalid link leads to the login page and says why', async ({ page, server, watch }) => {
  watch.allow(/status of 401/)
  await page.goto(`${server.address}/?token=neta_old_one`)
  await expect(page).toHaveURL(/\/login\?link=refused/)
  await expect(page.getByRole('status')).toContainText('This link has expired')
  await page.getByLabel('Access token').fill(TOKEN)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.locator('[data-region=composer] textarea')).toBeVisible()
})

test('a page that could not ask who this is says so, and begins once it can', async ({ chat, page, server, watch }) => {
  void chat
  watch.allowNetworkFailures()
  await page.route('**/admin/netaclaw/me', (route) => route.abort())
  // The socket does not connect either, otherwise the page would fetch them.
  await page.route('**/socket.io/**', (route) => route.abort())
  await page.routeWebSocket(/socket\.io/, (socket) => socket.close())
  await page.goto(`${server.address}/agents`)
  await expect(page.locator('main [role=alert]')).toContainText('Cannot reach the server.')
  await page.unroute('**/admin/netaclaw/me')
  await page.getByRole('button', { name: 'Retry', exact: true }).click()
  await expect(page.locator('.records li')).toHaveCount(1)
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

test('the chat is at most 350 kB on the wire', async ({ browser, chat }) => {
  await chat.ask('Hello', 'You said: Hello')
  const files = await chatFiles(browser, chat)
  // Tiny files are not worth it.
  for (const { url, bytes, encoding } of files) if (bytes > 2_000) expect(encoding, url).toBe('gzip')
  expect(files.length).toBeGreaterThan(0)
  expect(files.reduce((sum, file) => sum + file.bytes, 0)).toBeLessThanOrEqual(350_000)
})
