/** What is written before it is sent: drafts, files, commands, and who is to answer. */

import type { Locator } from '@playwright/test'
import { Hold, hold, say } from '../support/model.ts'
import { expect, test } from '../support/test.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

interface GivenFile {
  name: string
  type: string
  base64: string
}

/** Hands files over as a paste or a drop would. */
async function give(field: Locator, how: 'paste' | 'drop', ...files: GivenFile[]): Promise<void> {
  await field.evaluate(
    (element, { how, files }) => {
      const data = new DataTransfer()
      for (const { name, type, base64 } of files) {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
        data.items.add(new File([bytes], name, { type }))
      }
      const options = { bubbles: true, cancelable: true }
      if (how === 'paste') element.dispatchEvent(new ClipboardEvent('paste', { ...options, clipboardData: data }))
      else
        for (const type of ['dragenter', 'dragover', 'drop'])
          element.dispatchEvent(new DragEvent(type, { ...options, dataTransfer: data }))
    },
    { how, files },
  )
}

const text = (words: string) => Buffer.from(words).toString('base64')

test('files are chosen, pasted and dropped, wait with the draft, and go with the message', async ({
  chat,
  model,
  page,
  server,
}) => {
  // A model that sees.
  const { items } = await server.api<{ items: { id: string; models: object[] }[] }>('GET', 'channels')
  const channel = items.find(({ models }) => JSON.stringify(models).includes('fake'))!
  await server.api('PUT', `channels/${channel.id}`, {
    ...channel,
    models: [{ name: 'fake', contextWindow: 128_000, vision: true }],
  })
  await chat.ask('Hello', 'You said: Hello')
  const files = page.getByRole('list', { name: 'Attached files' }).getByRole('listitem')
  await page
    .locator('[data-region=composer] input[type=file]')
    .setInputFiles({ name: 'chosen.txt', mimeType: 'text/plain', buffer: Buffer.from('chosen words') })
  await expect(files).toHaveCount(1)
  await give(chat.field, 'paste', { name: 'pasted.png', type: 'image/png', base64: PIXEL })
  await expect(files).toHaveCount(2)
  await give(
    chat.field,
    'drop',
    { name: 'dropped.txt', type: 'text/plain', base64: text('dropped words') },
    { name: 'unwanted.txt', type: 'text/plain', base64: text('unwanted words') },
  )
  await expect(files).toHaveCount(4)
  await expect(files.and(page.locator('[data-state=ready]'))).toHaveCount(4)
  await page.getByRole('button', { name: 'Remove unwanted.txt' }).click()
  await expect(files).toHaveCount(3)

  await chat.reload()
  await expect(files).toHaveText([/chosen\.txt/, /pasted\.png/, /dropped\.txt/])
  await chat.ask('Look at these', 'You said')
  await expect(files).toHaveCount(0)
  const sent = JSON.stringify(model.requests.at(-1)!.messages.at(-1))
  for (const part of ['Look at these', 'chosen words', 'dropped words', PIXEL]) expect(sent).toContain(part)
  expect(sent).not.toContain('unwanted')

  const message = chat.row('Look at these').first()
  await expect(message).toContainText('chosen.txt')
  await expect(message.locator('img')).toHaveCount(1)
  const read = await chat.transcript()
  await chat.reload()
  await chat.reads(read)
  await expect.poll(() => message.locator('img').evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1)
})

test('a draft waits in its session, with its cursor', async ({ chat, page }) => {
  await chat.ask('Hello', 'You said: Hello')
  const first = page.url()
  await chat.field.fill('one three')
  for (let step = 0; step < 'three'.length; step++) await chat.field.press('ArrowLeft')
  await chat.newSession()
  await expect(chat.field).toHaveValue('')
  await chat.field.fill('for the new one')
  await page.goto(first)
  await expect(chat.field).toHaveValue('one three')
  await chat.field.focus()
  await page.keyboard.type('two ')
  await expect(chat.field).toHaveValue('one two three')

  // Also where nothing is loaded anew.
  await page.getByRole('button', { name: 'New session', exact: true }).click()
  await expect(chat.field).toHaveValue('for the new one')
  await page.locator('.sessions').getByRole('link').first().click()
  await expect(chat.field).toHaveValue('one two three')
  await chat.field.focus()
  await page.keyboard.type('and ')
  await expect(chat.field).toHaveValue('one two and three')
})

test('a branch has a draft of its own', async ({ chat }) => {
  await chat.ask('Red', 'You said: Red')
  await chat.act(chat.rows.first(), 'Edit')
  const edit = chat.page.getByRole('textbox', { name: 'Edit message' })
  await edit.fill('Blue')
  await edit.press('Enter')
  await chat.hasEnded('You said: Blue')
  await chat.field.fill('about blue')
  await chat.act(chat.rows.first(), 'Previous version')
  await chat.hasEnded('You said: Red')
  await expect(chat.field).toHaveValue('')
  await chat.act(chat.rows.first(), 'Next version')
  await chat.hasEnded('You said: Blue')
  await expect(chat.field).toHaveValue('about blue')
})

test('commands are completed, carried out, and never sent', async ({ chat, model, page }) => {
  await chat.ask('Hello', 'You said: Hello')
  const commands = page.getByRole('listbox', { name: 'Commands' })
  await chat.field.pressSequentially('/tr')
  await expect(commands.getByRole('option')).toHaveCount(1)
  await chat.field.press('Tab')
  await expect(chat.field).toHaveValue('/tree')
  await chat.field.press('Escape')
  await expect(chat.field).toHaveValue('/tree')
  await chat.field.press('Enter')
  await expect(chat.tree).toBeVisible()
  await page.keyboard.press('Escape')
  await chat.send('/rename A better name')
  await expect(page).toHaveTitle(/A better name/)
  await chat.send('/help')
  await expect(page.getByRole('dialog')).toContainText('Keyboard shortcuts')
  await page.keyboard.press('Escape')
  await chat.send('/clear')
  await expect(page).toHaveURL(/\/$/)
  expect(model.requests).toHaveLength(1)
})

test('Up in an empty field changes the last message', async ({ chat, page }) => {
  await chat.ask('Hello', 'You said: Hello')
  await chat.field.press('ArrowUp')
  const edit = page.getByRole('textbox', { name: 'Edit message' })
  await expect(edit).toHaveValue('Hello')
  await edit.press('Escape')
  await expect(edit).toHaveCount(0)
  await expect(chat.field).toBeFocused()
  await expect(chat.rows).toHaveCount(2)
})

test('another model and another depth of thinking, for the next answer on', async ({ chat, model, page, server }) => {
  await server.run(
    'channel',
    'add',
    'other',
    '--supplier',
    'compatible',
    '--base-url',
    model.address,
    '--model',
    'second:64000',
  )
  await page.reload()
  await chat.ask('Hello', 'You said: Hello')
  expect(model.requests.at(-1)!.model).toBe('fake')
  await page.getByRole('button', { name: /^Model:/ }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('listbox', { name: 'Model' })).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: 'Model: second' })).toBeVisible()
  await page.getByRole('button', { name: /^Thinking level:/ }).click()
  await page.getByRole('option', { name: 'High', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Thinking level: High' })).toBeVisible()
  await chat.ask('Again', 'You said: Again')
  expect(model.requests.at(-1)!.model).toBe('second')
  const read = await chat.transcript()
  expect(read.join('\n')).toContain('Model: second')
  await chat.reload()
  await chat.reads(read)
  await expect(page.getByRole('button', { name: 'Model: second' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Thinking level: High' })).toBeVisible()
})

test('a new session begins with the model and the thinking that were chosen', async ({ chat, model, page, server }) => {
  await server.run(
    'channel',
    'add',
    'other',
    '--supplier',
    'compatible',
    '--base-url',
    model.address,
    '--model',
    'second:64000',
  )
  await page.reload()
  await page.getByRole('button', { name: 'Model: Default (fake)' }).click()
  await page.getByRole('option', { name: 'second' }).click()
  await page.getByRole('button', { name: 'Thinking level: Default thinking level' }).click()
  await page.getByRole('option', { name: 'High', exact: true }).click()
  await chat.ask('Hello', 'You said: Hello')
  expect(model.requests[0]!.model).toBe('second')
  await chat.reload()
  await expect(page.getByRole('button', { name: 'Model: second' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Thinking level: High' })).toBeVisible()
  await chat.send('/clear')
  await expect(page.getByRole('button', { name: 'Model: Default (fake)' })).toBeVisible()
})

test('a message that is written while another is sent stays', async ({ chat, model, server }) => {
  const point = new Hold()
  model.next(say('working'), hold(point))
  server.freeze()
  await chat.send('Begin')
  await chat.field.fill('not yet sent')
  server.wake()
  await chat.sessionId()
  await expect(chat.rows.last()).toContainText('working')
  await expect(chat.field).toHaveValue('not yet sent')
  point.release()
  await chat.isIdle()
  await expect(chat.field).toHaveValue('not yet sent')
})
