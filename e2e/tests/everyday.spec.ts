/** Details of everyday use. */

import { call, Hold, hold, say, words } from '../support/model.ts'
import { Chat } from '../support/chat.ts'
import { expect, test } from '../support/test.ts'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

test('a fork of a question is answered', async ({ chat, page }) => {
  await chat.ask('Red', 'You said: Red')
  const before = page.url()
  await chat.choose(chat.rows.first(), 'Fork to a new session')
  await page.waitForURL((url) => url.href !== before)
  await expect(chat.rows).toHaveCount(1)
  await page.getByRole('button', { name: 'Get an answer' }).click()
  await chat.hasEnded('You said: Red')
  await expect(page.getByRole('button', { name: 'Get an answer' })).toHaveCount(0)
  await expect(chat.rows).toHaveCount(2)
})

test('an edited message that was not changed is answered once more', async ({ chat, model, page }) => {
  await chat.ask('Red', 'You said: Red')
  model.next(say('Another answer'))
  await chat.act(chat.rows.first(), 'Edit')
  await page.locator('.edit').getByRole('button', { name: 'Regenerate' }).click()
  await chat.hasEnded('Another answer')
  await expect(chat.rows).toHaveCount(2)
  await expect(chat.rows.last()).toContainText('2/2')
})

test('on a phone Enter breaks the line and the button sends', async ({ browser, chat, server }) => {
  await expect(chat.field).toBeVisible()
  const context = await browser.newContext({ ...PHONE, storageState: await chat.page.context().storageState() })
  const page = await context.newPage()
  await page.goto(server.address)
  const phone = new Chat(page)
  await phone.field.tap()
  await page.keyboard.type('one')
  await page.keyboard.press('Enter')
  await page.keyboard.type('two')
  await expect(phone.field).toHaveValue('one\ntwo')
  await page.getByRole('button', { name: 'Send' }).tap()
  await phone.hasEnded('You said: one')
  await context.close()
})

test('a command that does not exist is refused, and two slashes send one', async ({ chat, model, page }) => {
  const refusal = page.locator('[data-region=composer] [role=alert]')
  for (const [command, why] of [
    ['/compact', 'nothing to compact'],
    ['/tree', 'no session tree yet'],
    ['/stop', 'nothing to stop'],
  ] as const) {
    await chat.field.fill(command)
    await chat.field.press('Enter')
    await expect(refusal).toContainText(why)
    await expect(chat.field).toHaveValue(command)
  }
  await chat.field.fill('/hlep me')
  await chat.field.press('Enter')
  await expect(refusal).toContainText('Unknown command /hlep')
  await refusal.getByRole('button', { name: '/help' }).click()
  await expect(chat.field).toHaveValue('/help')
  await expect(refusal).toHaveCount(0)
  expect(model.requests).toHaveLength(0)
  await chat.send('//etc holds settings')
  await chat.hasEnded('You said: /etc holds settings')
})

test('a message that begins with a slash is one again when it is edited or called back', async ({ chat, page }) => {
  await chat.ask('//compact is a word', 'You said: /compact is a word')
  await chat.act(chat.row('/compact is a word').first(), 'Edit')
  const editor = page.locator('[data-row] textarea')
  await expect(editor).toHaveValue('/compact is a word')
  await editor.fill('/compact is an adjective')
  await editor.press('Enter')
  await chat.hasEnded('You said: /compact is an adjective')
  await expect(chat.rows.first()).toContainText('2/2')
  await chat.act(chat.row('/compact is an adjective').first(), 'Edit')
  await editor.fill('//host/compact')
  await editor.press('Enter')
  await chat.hasEnded('You said: //host/compact')
})

test('a file that is too large says so, and can only be removed', async ({ chat, page, watch }) => {
  watch.allow(/status of 413/)
  await chat.field.fill('Look')
  await page
    .locator('[data-region=composer] input[type=file]')
    .setInputFiles({ name: 'big.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(30 * 1024 * 1024) })
  const item = page.getByRole('list', { name: 'Attached files' }).getByRole('listitem')
  const why = item.getByRole('alert')
  await expect(why).toContainText(/too large|limit/)
  expect(await why.evaluate((text) => text.scrollWidth <= text.clientWidth)).toBe(true)
  await expect(item.getByRole('button', { name: /again/ })).toHaveCount(0)
  await expect(page.locator('[data-region=composer] .hint')).toContainText('Remove the files')
  await item.getByRole('button', { name: 'Remove big.bin' }).click()
  await expect(page.locator('[data-region=composer] .hint')).toHaveCount(0)
  await chat.ask('Look', 'You said: Look')
})

test('the to-do list is closed after its run, and a new one is shown', async ({ chat, model, page }) => {
  const list = (text: string) => call('todo', { items: [{ text, status: 'in_progress' }] })
  const todo = page.getByRole('region', { name: 'To-do list' })
  const close = page.getByRole('button', { name: 'Close to-do list' })
  const point = new Hold()
  model.next(list('Water the plants'))
  model.next(hold(point), say('Later.'))
  await chat.send('Begin')
  await expect(todo).toContainText('Water the plants')
  await expect(close).toHaveCount(0)
  point.release()
  await chat.hasEnded('Later.')
  await close.click()
  await expect(todo).toHaveCount(0)
  await chat.reload()
  await expect(todo).toHaveCount(0)
  model.next(list('Feed the cat'))
  model.next(say('Done.'))
  await chat.ask('Again', 'Done.')
  await expect(todo).toHaveCount(1)
})

test('the keys of the app work on every page', async ({ chat, page }) => {
  await chat.ask('Red', 'You said: Red')
  for (const path of ['/agents', '/settings']) {
    await page.goto(new URL(path, page.url()).href)
    await expect(page.locator('h1')).toBeVisible()
    await page.keyboard.press('Control+k')
    await expect(page.locator('#session-search')).toBeFocused()
    await page.keyboard.press('Control+b')
    await expect(page.locator('#session-search')).toBeHidden()
    await page.keyboard.press('Control+b')
    await expect(page.locator('#session-search')).toBeVisible()
    await page.locator('h1').click()
    await page.keyboard.press('?')
    await expect(page.getByRole('dialog')).toContainText('Keyboard shortcuts')
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await page.keyboard.press('Control+Shift+o')
    await expect(page).toHaveURL(/\/$/)
    await expect(chat.field).toBeFocused()
  }
})

test('the way to the latest is offered only if something is below', async ({ chat, model, page }) => {
  const jump = page.getByRole('button', { name: /^Jump to latest/ })
  await chat.ask('Red', 'You said: Red')
  await chat.act(chat.rows.first(), 'Edit')
  await expect(page.getByRole('textbox', { name: 'Edit message' })).toBeFocused()
  await expect(jump).toHaveCount(0)
  await page.keyboard.press('Escape')
  model.next(say('A long answer. '.repeat(800)))
  await chat.ask('Tell me', 'A long answer')
  await page.locator('[data-region=transcript]').hover()
  await page.mouse.wheel(0, -600)
  await expect(jump).toBeVisible()
  await jump.click()
  await expect(jump).toHaveCount(0)
})

test('sessions come first in the sidebar, by day, and administration is one entry', async ({ chat, page }) => {
  await chat.ask('Red', 'You said: Red')
  const sidebar = page.getByRole('navigation', { name: 'Pages' })
  await expect(sidebar.getByRole('region', { name: 'Today' }).getByRole('listitem')).toHaveText([/Red/])
  const channels = sidebar.getByRole('link', { name: 'Channels' })
  await expect(channels).toBeHidden()
  const list = await sidebar.getByRole('region', { name: 'Sessions' }).boundingBox()
  const administration = sidebar.getByRole('button', { name: 'Administration' })
  expect(list!.y).toBeLessThan((await administration.boundingBox())!.y)
  await administration.click()
  await channels.click()
  await expect(page).toHaveURL(/\/channels$/)
  await expect(page).toHaveTitle('Channels · NetaClaw')
  await page.reload()
  await expect(channels).toBeVisible()
  await sidebar.getByRole('link', { name: 'NetaClaw' }).click()
  await expect(chat.field).toBeVisible()
})

test('the row menu leaves the time alone', async ({ chat, page }) => {
  await chat.ask('Red', 'You said: Red')
  const row = page.locator('.sessions li').first()
  await row.hover()
  const menu = (await row.getByRole('button').boundingBox())!
  const time = (await row.locator('time').boundingBox())!
  expect(menu.y + menu.height).toBeLessThanOrEqual(time.y + 1)
  // A title has the whole width of the row, but for the menu.
  await page.locator('[data-region=transcript]').hover()
  const title = (await row.locator('.title').boundingBox())!
  const whole = (await row.boundingBox())!
  expect(title.width).toBeGreaterThan(whole.width - 30)
})

test('a hidden tab marks what has ended and what waits', async ({ chat, model, page }) => {
  const hide = (hidden: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, hidden)
  const icon = () => page.locator('link[rel=icon]').getAttribute('href')
  const point = new Hold()
  model.next(hold(point), say('There it is.'))
  await chat.send('Red')
  await chat.sessionId()
  await expect(page.locator('.sessions li')).toContainText('Running')
  await hide(true)
  await expect(page).toHaveTitle(/^Red/)
  point.release()
  await expect(page).toHaveTitle(/^\(1\) Red/)
  expect(await icon()).toContain('favicon-news')
  await hide(false)
  await expect(page).toHaveTitle(/^Red/)
  expect(await icon()).toMatch(/\/favicon\.svg$/)
})

test('notifications are asked for in the settings, and shown for a hidden tab', async ({ chat, model, page }) => {
  await page.addInitScript(() => {
    const shown: string[] = []
    const Fake = Object.assign(
      function (title: string, options: NotificationOptions) {
        shown.push(`${title}: ${options.body}`)
      },
      { permission: 'default', requestPermission: () => Promise.resolve((Fake.permission = 'granted')) },
    )
    Object.assign(window, { Notification: Fake, shown })
  })
  await page.goto(new URL('/settings/appearance', page.url()).href)
  const toggle = page.getByRole('switch', { name: 'Notifications' })
  await expect(toggle).not.toBeChecked()
  await page.locator('.row').filter({ has: toggle }).locator('.el-switch').click()
  await expect(toggle).toBeChecked()
  await page.getByRole('link', { name: 'NetaClaw' }).click()
  const point = new Hold()
  model.next(hold(point), call('clarify', { question: 'Which?', options: ['this', 'that'] }))
  await chat.send('Red')
  await expect(page.locator('.sessions li')).toContainText('Running')
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  point.release()
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { shown: string[] }).shown))
    .toEqual(['Red: Waiting for you.'])
})

test('tokens: logins of browsers stand apart, the own one is marked, a new one is named', async ({ chat, page }) => {
  await expect(chat.field).toBeVisible()
  await page.goto(new URL('/settings/tokens', page.url()).href)
  await expect(page.getByRole('heading', { name: 'Browser logins' })).toBeVisible()
  await expect(page.locator('.records li').filter({ hasText: 'this browser' })).toHaveCount(1)
  await page.getByRole('button', { name: 'New token' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('radio', { name: /^Chat/ })).toBeChecked()
  await dialog.getByRole('button', { name: 'Create token' }).click()
  await expect(dialog).toContainText('Enter what the token is for.')
  await dialog.getByRole('textbox').fill('a robot')
  await dialog.getByRole('button', { name: 'Create token' }).click()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('heading', { name: 'Access tokens' })).toBeVisible()
  await page.goto(new URL('/settings/account', page.url()).href)
  await page.getByRole('link', { name: 'Set a password under Users' }).click()
  await expect(page).toHaveURL(/\/settings\/users$/)
})

test('choosing an agent says what it is for, and another one answers from the next message on', async ({
  chat,
  model,
  page,
  server,
}) => {
  const spec = { name: 'writer', label: 'Writer', description: 'Writes short texts.', systemPrompt: 'You are terse.' }
  await server.api('POST', 'agents', spec)
  await page.goto(new URL('/agents', page.url()).href)
  await page.getByRole('button', { name: 'Chat with Writer' }).click()
  await expect(page.locator('.state')).toContainText('Writer · Writes short texts.')
  await expect(page.locator('.tries button')).toHaveCount(3)
  await expect(page.locator('.tries')).not.toContainText('milk')
  await page.getByRole('button', { name: 'Agent: Writer' }).click()
  await page.getByRole('option', { name: 'General' }).click()
  const asked = () => JSON.stringify(model.requests.at(-1)!.messages[0])
  await chat.ask('Red', 'You said: Red')
  expect(asked()).not.toContain('You are terse.')

  // Chosen, and taken back.
  const note = page.locator('[data-region=composer] [role=status]', { hasText: 'from your next message on' })
  const choose = async (from: string, to: string) => {
    await page.getByRole('button', { name: `Agent: ${from}` }).click()
    await page.getByRole('option', { name: to }).click()
  }
  await choose('General', 'Writer')
  await expect(note).toContainText('“Writer” answers from your next message on.')
  await expect(chat.field).toHaveAttribute('placeholder', 'Message Writer')
  await note.getByRole('button', { name: 'Keep “General”' }).click()
  await expect(note).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Agent: General' })).toBeVisible()

  // Chosen, and said where it happened, in every tab and after a reload.
  const other = await chat.second()
  await choose('General', 'Writer')
  await chat.ask('Blue', 'You said: Blue')
  expect(asked()).toContain('You are terse.')
  await expect(note).toHaveCount(0)
  await chat.reload()
  for (const tab of [chat, other]) {
    await expect(tab.page.getByRole('button', { name: 'Agent: Writer' })).toBeVisible()
    await expect(tab.row('Agent: writer')).toHaveCount(1)
  }
  await chat.ask('Green', 'You said: Green')
  expect(asked()).toContain('You are terse.')
})

test('another agent that is chosen during a run answers after it', async ({ chat, model, page, server }) => {
  await server.api('POST', 'agents', { name: 'writer', label: 'Writer', systemPrompt: 'You are terse.' })
  await page.reload()
  const point = new Hold()
  model.next(...words('one two'), hold(point), say(' three'))
  await chat.send('Count')
  await expect(chat.rows.last()).toContainText('two')
  await page.getByRole('button', { name: 'Agent: General' }).click()
  await page.getByRole('option', { name: 'Writer' }).click()
  await chat.send('Go on')
  await expect(chat.queue).toHaveCount(1)
  point.release()
  await chat.hasEnded('You said: Go on')
  expect(JSON.stringify(model.requests.at(-1)!.messages[0])).toContain('You are terse.')
  await expect(page.getByRole('button', { name: 'Agent: Writer' })).toBeVisible()
})

test('a user sees which tools and skills the agent has', async ({ browser, chat, server }) => {
  await expect(chat.field).toBeVisible()
  await server.api('POST', 'users', { name: 'ann', role: 'user', password: 'a good password' })
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(server.address)
  await page.getByRole('button', { name: 'Username and password' }).click()
  await page.getByLabel('Username', { exact: true }).fill('ann')
  await page.getByLabel('Password').fill('a good password')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Tools and skills of this agent' }).click()
  const drawer = page.getByRole('dialog')
  await expect(drawer.getByText('Read file', { exact: true })).toBeVisible()
  await expect(drawer.getByText('folder-audit', { exact: true })).toBeVisible()
  await expect(drawer.getByRole('link', { name: 'Edit' })).toHaveCount(0)
  await context.close()
})

test('a phone has a new chat in the header, one button for who answers, and large targets', async ({
  browser,
  chat,
}) => {
  await chat.ask('Red', 'You said: Red')
  const context = await browser.newContext({ ...PHONE, storageState: await chat.page.context().storageState() })
  const page = await context.newPage()
  await page.goto(chat.page.url())
  const phone = new Chat(page)
  await expect(phone.rows.last()).toContainText('You said: Red')
  const small = await page.locator('button:visible').evaluateAll((buttons) =>
    buttons
      .map((button) => ({ box: button.getBoundingClientRect(), name: button.getAttribute('aria-label') }))
      .filter(({ box, name }) => name !== null && (box.height < 44 || box.width < 44))
      .map(({ box, name }) => `${name} ${box.width} × ${box.height}`),
  )
  expect(small).toEqual([])
  await page.getByRole('button', { name: /^Agent, model and thinking level/ }).tap()
  await page.getByRole('combobox', { name: 'Thinking level' }).selectOption('high')
  await page.getByRole('button', { name: 'Close' }).tap()
  await expect(phone.rows.filter({ hasText: 'Thinking level: high' })).toHaveCount(1)
  await page.locator('header').getByRole('button', { name: 'More' }).tap()
  await page.getByRole('menuitem', { name: 'Delete' }).tap()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).tap()
  await expect(page).toHaveURL(/\/$/)
  await page.getByRole('button', { name: 'New session', exact: true }).tap()
  await expect(phone.field).toBeVisible()
  await context.close()
})

test('a wide table shows that it scrolls, and is copied and downloaded', async ({ chat, model, page }) => {
  const cells = (text: string) => `| ${Array.from({ length: 14 }, (_, at) => `${text} ${at}`).join(' | ')} |`
  const table = [cells('head'), `|${' --- |'.repeat(14)}`, cells('a long cell')].join('\n')
  model.next(say(`A table:\n\n${table}\n\nThat was it.`))
  await chat.ask('Make a table', 'That was it.')
  const box = page.locator('.md-table')
  expect(await box.evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(true)
  // The shadows that say so.
  expect(await box.evaluate((box) => getComputedStyle(box).backgroundImage.split('linear-gradient').length - 1)).toBe(4)
  const downloading = page.waitForEvent('download')
  await box.hover()
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const download = await downloading
  expect(download.suggestedFilename()).toBe('table.csv')
  const read = await (await download.createReadStream()).setEncoding('utf8').toArray()
  expect(read.join('')).toMatch(/^\uFEFFhead 0,head 1,.*\r\na long cell 0,a long cell 1,/)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.locator('.md-table-tools').getByRole('button', { name: 'Copy' }).click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/^head 0\thead 1\t/)
})

test('a diagram is opened large, zoomed and downloaded, and no button covers it', async ({ chat, model, page }) => {
  model.next(say('```mermaid\nflowchart LR\n  a[Start] --> b[End]\n```\n\nThere.'))
  await chat.ask('Draw', 'There.')
  const drawing = page.locator('.drawing')
  await expect(drawing.locator('img')).toBeVisible()
  const tools = (await page.locator('.diagram .tools').boundingBox())!
  expect(tools.y + tools.height).toBeLessThanOrEqual((await drawing.boundingBox())!.y + 1)
  await page.getByRole('button', { name: 'Full screen' }).click()
  const dialog = page.getByRole('dialog')
  const image = dialog.getByRole('img')
  const before = (await image.boundingBox())!.width
  await dialog.getByRole('button', { name: 'Zoom in' }).click()
  expect((await image.boundingBox())!.width).toBeGreaterThan(before * 1.4)
  await page.keyboard.press('-')
  await expect.poll(async () => (await image.boundingBox())!.width).toBeCloseTo(before, 0)
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download as SVG' }).click()
  expect((await downloading).suggestedFilename()).toBe('diagram.svg')
})

test('folded parts, keys and footnotes are drawn, and a foreign picture says why it is a link', async ({
  chat,
  model,
}) => {
  const text =
    'Press <kbd>Ctrl</kbd>[^1] ![logo](https://a.example/logo.png)\n\n<details>\n<summary>More</summary>\n\nHidden **words**\n\n</details>\n\n[^1]: On a Mac, Command.\n\nThat was it.'
  model.next(say(text))
  await chat.ask('Explain', 'That was it.')
  const answer = chat.rows.last()
  await expect(answer.locator('kbd')).toHaveText('Ctrl')
  await expect(answer.getByText('words')).toBeHidden()
  await answer.getByText('More', { exact: true }).first().click()
  await expect(answer.getByText('words')).toBeVisible()
  await expect(answer.locator('.md-note-text')).toContainText('On a Mac, Command.')
  const link = answer.getByRole('link', { name: 'logo' })
  await expect(link).toHaveAttribute('title', /not loaded/)
  expect(await link.evaluate((link) => getComputedStyle(link, '::after').content)).toContain('not loaded')
  await expect(answer.locator('img')).toHaveCount(0)
})

test('an MCP server is added from the JSON of its documentation', async ({ chat, page }) => {
  await expect(chat.field).toBeVisible()
  await page.goto(new URL('/mcp-servers/new', page.url()).href)
  const dialog = page.getByRole('dialog')
  const paste = async (text: string) => {
    await page.getByRole('button', { name: 'Paste JSON' }).click()
    await dialog.getByRole('textbox').fill(text)
  }
  await paste('not a server')
  await dialog.getByRole('button', { name: 'Fill in' }).click()
  await expect(dialog).toContainText('No server found.')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await paste('{"mcpServers": {"files": {"command": "npx", "args": ["-y", "server"], "env": {"TOKEN": "abc"}}}}')
  await dialog.getByRole('button', { name: 'Fill in' }).click()
  await expect(page.getByLabel('Command', { exact: false }).first()).toHaveValue('npx')
  await paste('{"servers": {"one": {"command": "a"}, "docs": {"url": "https://a.example/mcp"}}}')
  await dialog.getByRole('button', { name: 'docs' }).click()
  await expect(page.locator('input[type=url]')).toHaveValue('https://a.example/mcp')
})

test('questions expire when the settings say so, and the audit log shows who said it', async ({
  chat,
  page,
  server,
}) => {
  await expect(chat.field).toBeVisible()
  await page.goto(new URL('/settings/defaults', page.url()).href)
  await page.getByLabel('Expires after (minutes)').fill('30')
  await page.getByRole('button', { name: 'Save the time' }).click()
  await expect(page.getByText('Saved')).toBeVisible()
  const { value } = await server.api<{ value: number }>('GET', 'settings/clarify.timeoutMs')
  expect(value).toBe(1_800_000)
  await page.getByRole('link', { name: 'Audit log' }).click()
  const record = page.locator('.records li').filter({ hasText: 'clarify.timeoutMs' })
  await expect(record).toContainText('Setting')
  await expect(record).toContainText('User admin')
  await page.getByRole('link', { name: 'Defaults' }).click()
  await page.getByLabel('Expires after (minutes)').fill('')
  await page.getByRole('button', { name: 'Save the time' }).click()
  await expect(page.getByText('Saved')).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Expires after (minutes)')).toHaveValue('')
})

test('what opens below the conversation does not cover its end', async ({ chat, model, page }) => {
  model.next(say('A long answer. '.repeat(600)))
  await chat.ask('Tell me', 'A long answer')
  const end = () =>
    page.locator('[data-region=transcript]').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)
  await expect.poll(end).toBeLessThan(2)
  // Held by the reader, who is at the end all the same.
  await page.locator('[data-region=transcript]').hover()
  await page.mouse.wheel(0, -20)
  await chat.field.fill('one\ntwo\nthree\nfour\nfive\nsix')
  await expect.poll(end).toBeLessThan(48)
})

test('the first page comes in few files', async ({ browser, chat }) => {
  await chat.ask('Red', 'You said: Red')
  const context = await browser.newContext({ storageState: await chat.page.context().storageState() })
  const page = await context.newPage()
  const files: string[] = []
  page.on('response', (response) => {
    if (/\.(js|css)$/.test(new URL(response.url()).pathname)) files.push(response.url())
  })
  await page.goto(chat.page.url())
  await expect(page.locator('[data-kind=assistant]')).toBeVisible()
  expect(files.length).toBeLessThan(40)
  await context.close()
})
