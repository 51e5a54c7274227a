/** What can be done while the agent works. */

import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from '@playwright/test'
import { call, Hold, hold, say, words } from '../support/model.ts'
import { expect, test } from '../support/test.ts'

test('stop while it answers: what was said stays, and the next message goes', async ({ chat, model }) => {
  const point = new Hold()
  model.next(...words('one two three'), hold(point), say(' never said'))
  await chat.send('Count')
  await expect(chat.rows.last()).toContainText('three')
  await chat.stopButton.click()
  await chat.isIdle()
  await expect(chat.rows.last()).toContainText('Stopped.')
  await expect(chat.status).toHaveText('Stopped.')
  point.release()
  const read = await chat.transcript()
  expect(read.join('\n')).toContain('one two three')
  await chat.reload()
  await chat.reads(read)
  await chat.ask('Go on', 'Go on')
  await expect(chat.row('never said')).toHaveCount(0)
})

test('Escape leaves the field and ends nothing; Ctrl+. stops, and the text stays', async ({ chat, model }) => {
  const point = new Hold()
  model.next(...words('one two'), hold(point))
  await chat.send('Count')
  await expect(chat.rows.last()).toContainText('two')
  await chat.field.fill('a thought')
  await chat.field.press('Escape')
  await expect(chat.page.getByText('Stop it with Ctrl+.')).toBeVisible()
  await expect(chat.field).not.toBeFocused()
  for (let pressed = 0; pressed < 3; pressed++) await chat.page.keyboard.press('Escape')
  await expect(chat.stopButton).toBeEnabled()
  await chat.page.keyboard.press('Control+.')
  await chat.isIdle()
  await expect(chat.field).toHaveValue('a thought')
  await chat.reload()
  await expect(chat.field).toHaveValue('a thought')
})

test('Escape closes what is nearest, and the run goes on', async ({ chat, model, page }) => {
  const point = new Hold()
  model.next(...words('one two'), hold(point), say(' three'))
  await chat.send('Count')
  await expect(chat.rows.last()).toContainText('two')
  const transcript = page.locator('[data-region=transcript]')
  const meter = page.locator('.meter')
  const closes = async (open: () => Promise<unknown>, opened: Locator) => {
    await open()
    await expect(opened).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(opened).toHaveCount(0)
    await expect(chat.stopButton).toBeEnabled()
  }
  await closes(() => transcript.press('t'), chat.tree)
  await closes(() => transcript.press('?'), page.getByRole('dialog'))
  await closes(() => transcript.press('Control+f'), page.getByRole('search'))
  await closes(() => meter.press('Enter'), page.locator('.tokens :popover-open'))
  await closes(() => page.locator('h1 button').press('Enter'), page.getByRole('textbox', { name: 'Session title' }))
  await page.setViewportSize({ width: 390, height: 844 })
  await closes(() => page.getByRole('button', { name: 'Open menu' }).press('Enter'), page.locator('.scrim'))
  point.release()
  await chat.hasEnded('one two three')
})

test('a message that is no answer waits behind the question', async ({ chat, model, page }) => {
  model.next(call('clarify', { question: 'Which colour?', options: ['red', 'blue'] }))
  model.next(...words('Painted it so.'))
  await chat.send('Paint it')
  await expect(chat.questions).toBeVisible()
  await chat.field.fill('By the way')
  await expect(page.getByText('Enter answers the question')).toBeVisible()
  await page.getByRole('button', { name: 'Send as new message' }).click()
  await expect(chat.queue).toHaveCount(1)
  await expect(chat.queue).toContainText('By the way')
  await chat.questions.getByRole('button', { name: 'red' }).click()
  await chat.hasEnded('You said: By the way')
  await expect(chat.row('Painted it so.')).toHaveCount(1)
})

test('stop while a question is open', async ({ chat, model }) => {
  model.next(call('clarify', { question: 'Which colour?', options: ['red', 'blue'] }))
  await chat.send('Paint it')
  await expect(chat.questions).toContainText('Which colour?')
  await chat.stopButton.click()
  await chat.isIdle()
  await expect(chat.questions.getByRole('button', { name: 'red' }).and(chat.page.locator(':enabled'))).toHaveCount(0)
  const read = await chat.transcript()
  await chat.reload()
  await chat.reads(read)
  await chat.ask('Never mind', 'Never mind')
})

test('stop while a tool runs', async ({ chat, model, server }) => {
  // A large sparse file, which takes no space on the disk.
  const workspace = join(server.place, 'large')
  await server.useAgent({ workspace })
  writeFileSync(join(workspace, 'large.txt'), 'words\n'.repeat(2_000))
  truncateSync(join(workspace, 'large.txt'), 2 ** 41)

  model.next(say('Let me read.'), call('read', { path: 'large.txt', offset: 1_000_000 }))
  await chat.send('Read it')
  const tool = chat.page.locator('.tool')
  await expect(tool).toHaveAttribute('data-status', 'running')
  await expect(chat.status).toHaveText(/Running/)
  await chat.stopButton.click()
  await chat.isIdle()
  await expect(tool.locator('.status')).toHaveText('Stopped')
  await expect(chat.rows.last()).toContainText('Stopped.')
  const read = await chat.transcript()
  await chat.reload()
  await chat.reads(read)
  await chat.ask('Never mind', 'Never mind')
  expect(model.requests).toHaveLength(2)
})

test('three messages wait, one is changed, one is taken away, and the rest go in order', async ({ chat, model }) => {
  const point = new Hold()
  model.next(say('working'), hold(point), say(' done'))
  await chat.send('Begin')
  await expect(chat.rows.last()).toContainText('working')
  for (const text of ['first', 'second', 'third']) await chat.send(text, 'Alt+Enter')
  await expect(chat.queue).toHaveCount(3)
  const other = await chat.second()
  await expect(other.queue).toHaveCount(3)

  const second = chat.queue.filter({ hasText: 'second' })
  await second.hover()
  await second.getByRole('button', { name: 'Edit' }).click()
  await chat.queue.getByRole('textbox').fill('second, changed')
  await chat.queue.getByRole('textbox').press('Enter')
  await expect(other.queue.nth(1)).toContainText('second, changed')
  await chat.queue.first().hover()
  await chat.queue.first().getByRole('button', { name: 'Remove' }).click()
  await expect(chat.queue).toHaveCount(2)
  await expect(other.queue).toHaveCount(2)
  await chat.reload()
  await expect(chat.queue).toHaveText([/second, changed/, /third/])

  point.release()
  await chat.hasEnded('You said: third')
  expect(
    model.requests.map((request) => request.messages.findLast((message) => message.role === 'user')?.content),
  ).toEqual(['Begin', 'second, changed', 'third'])
  await other.hasEnded('You said: third')
  await other.reads(await chat.transcript())
})

test('a message during a run steers it', async ({ chat, model }) => {
  const point = new Hold()
  model.next(say('looking'), hold(point), call('ls', { path: '.' }))
  await chat.send('Look')
  await expect(chat.rows.last()).toContainText('looking')
  await chat.send('Be quick')
  await expect(chat.queue).toContainText('Be quick')
  point.release()
  await chat.hasEnded('You said: Be quick')
  await expect(chat.row('Be quick').first()).toContainText('Added during the run')
  expect(model.requests).toHaveLength(2)
})

test('a screen reader announces each event once', async ({ chat, model }) => {
  const { page } = chat
  const point = new Hold()
  model.next(...words('one two'), hold(point), say(' three'))
  await page.evaluate(() => {
    const heard: string[] = []
    Object.assign(window, { heard })
    const region = document.querySelector('[data-region=status]')!
    new MutationObserver(() => heard.push(region.textContent ?? '')).observe(region, {
      childList: true,
      characterData: true,
      subtree: true,
    })
  })
  await chat.send('Count')
  await expect(chat.rows.last()).toContainText('two')
  await expect(page.getByRole('log')).toHaveAttribute('aria-busy', 'true')
  point.release()
  await chat.hasEnded('three')
  await expect(chat.status).toHaveText('Answer complete.')
  expect(await page.evaluate(() => (window as unknown as { heard: string[] }).heard)).toEqual([
    'The agent is answering.',
    'Answer complete.',
  ])
  await expect(page.locator('[role=alert]').first()).toHaveAttribute('aria-live', 'assertive')
})
