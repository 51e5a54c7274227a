/** The small things that everybody meets every day. */

import { call, Hold, hold, say } from '../support/model.ts'
import { Chat } from '../support/chat.ts'
import { expect, test } from '../support/test.ts'

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
  const context = await browser.newContext({
    storageState: await chat.page.context().storageState(),
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  })
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
