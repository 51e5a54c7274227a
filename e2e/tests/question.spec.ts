/** A question waits for its answer, wherever that comes from. */

import { call, words } from '../support/model.ts'
import { expect, test } from '../support/test.ts'

test.beforeEach(async ({ chat, model }) => {
  model.next(call('clarify', { question: 'Which **colour**?', options: ['**red**', '`blue`'] }))
  model.next(...words('Painted it so.'))
  await chat.send('Paint it')
  await expect(chat.questions).toContainText('Which colour?')
})

test.afterEach(async ({ chat, model }) => {
  await chat.hasEnded('Painted it so.')
  // What was answered can be read, also where the steps of an answer are folded.
  await expect(chat.rows.locator('.tool .said')).toHaveText([/red|blue|green|yellow/])
  await expect(chat.questions).toHaveCount(0)
  expect(model.requests).toHaveLength(2)
  const read = await chat.transcript()
  await chat.reload()
  await chat.reads(read)
})

const answered = (model: { requests: { messages: { role: string; content: unknown }[] }[] }) =>
  model.requests.at(-1)?.messages.findLast((message) => message.role === 'tool')?.content

test('by key', async ({ chat, model }) => {
  await chat.questions.getByRole('button', { name: 'red' }).focus()
  await chat.page.keyboard.press('2')
  await chat.hasEnded('Painted it so.')
  expect(answered(model)).toContain('blue')
})

test('by key, from anywhere but a field', async ({ chat, model }) => {
  await expect(chat.questions.getByRole('button')).toHaveText(['1red', '2blue', 'Answer'])
  await expect(chat.questions.locator('strong, code')).toHaveText(['colour', 'red', 'blue'])
  await chat.page.locator('[data-region=transcript]').focus()
  await chat.page.keyboard.press('9')
  await chat.page.keyboard.press('1')
  await chat.hasEnded('Painted it so.')
  expect(answered(model)).toContain('red')
})

test('by text, in the card', async ({ chat, model }) => {
  const field = chat.questions.getByRole('textbox')
  await field.fill('green, please')
  await field.press('Enter')
  await chat.hasEnded('Painted it so.')
  expect(answered(model)).toContain('green, please')
})

test('by a plain message', async ({ chat, model }) => {
  await chat.send('yellow')
  await chat.hasEnded('Painted it so.')
  expect(answered(model)).toContain('yellow')
})

test('from the second tab', async ({ chat, model }) => {
  const other = await chat.second()
  await other.questions.getByRole('button', { name: 'red' }).click()
  await chat.hasEnded('Painted it so.')
  await other.hasEnded('Painted it so.')
  expect(answered(model)).toContain('red')
})

test('after a reload', async ({ chat, model }) => {
  await chat.reload()
  await chat.questions.getByRole('button', { name: 'red' }).click()
  await chat.hasEnded('Painted it so.')
  expect(answered(model)).toContain('red')
})

test('after a restart of the server', async ({ chat, model, server, watch }) => {
  watch.allowNetworkFailures()
  await server.kill()
  await expect(chat.pill).toBeVisible()
  await server.start()
  await expect(chat.pill).toHaveCount(0)
  await chat.questions.getByRole('button', { name: 'blue' }).click()
  await chat.hasEnded('Painted it so.')
  expect(answered(model)).toContain('blue')
})
