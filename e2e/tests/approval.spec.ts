/** A call waits until it is approved, from whichever client; nothing runs before. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, words } from '../support/model.ts'
import { expect, test } from '../support/test.ts'
import type { Server } from '../support/server.ts'

const NOTE = { path: 'note.txt', content: 'Remember the milk.\n' }
const noteIn = (server: Server) => join(server.place, 'work', 'note.txt')
const told = (model: { requests: { messages: { role: string; content: unknown }[] }[] }) =>
  model.requests.at(-1)?.messages.findLast((message) => message.role === 'tool')?.content

test.beforeEach(async ({ chat, model, server }) => {
  await server.useAgent({ workspace: join(server.place, 'work'), approval: 'always' })
  model.next(call('write', NOTE))
  model.next(...words('That is settled.'))
  await chat.send('Note it down')
  await expect(chat.approvals).toContainText('Remember the milk.')
  expect(existsSync(noteIn(server))).toBe(false)
})

test('once: it runs, and is asked about the next time', async ({ chat, model, server }) => {
  await chat.approvals.getByRole('button', { name: 'Allow once' }).click()
  await chat.hasEnded('That is settled.')
  await expect(chat.approvals).toHaveCount(0)
  expect(readFileSync(noteIn(server), 'utf8')).toBe(NOTE.content)

  model.next(call('write', NOTE))
  model.next(...words('And again.'))
  await chat.send('Once more')
  await expect(chat.approvals).toContainText('Remember the milk.')
  // A plain message is no answer to it.
  await chat.send('yes, do it')
  await expect(chat.approvals).toBeVisible()
  await chat.approvals.getByRole('button', { name: 'Allow once' }).click()
  await expect(chat.approvals).toHaveCount(0)
})

test('for the session: the same call is not asked about again', async ({ chat, model }) => {
  await chat.approvals.getByRole('button', { name: 'Allow for this session' }).click()
  await chat.hasEnded('That is settled.')
  model.next(call('write', NOTE))
  model.next(...words('Without a question.'))
  await chat.ask('Once more', 'Without a question.')
  await expect(chat.approvals).toHaveCount(0)
  const read = await chat.transcript()
  await chat.reload()
  await chat.reads(read)
})

test('denied: nothing happens, and the agent reads why', async ({ chat, model, server }) => {
  await chat.approvals.focus()
  await chat.page.keyboard.press('3')
  await chat.approvals.getByRole('textbox').fill('not in this folder')
  await chat.page.keyboard.press('Enter')
  await chat.hasEnded('That is settled.')
  expect(existsSync(noteIn(server))).toBe(false)
  expect(told(model)).toContain('not in this folder')
  const read = await chat.transcript()
  await chat.reload()
  await chat.reads(read)
})

test('after a reload and from the second tab: one answer counts for both', async ({ chat, server }) => {
  await chat.reload()
  await expect(chat.approvals).toContainText('Remember the milk.')
  const other = await chat.second()
  await expect(other.approvals).toContainText('Remember the milk.')
  await other.approvals.getByRole('button', { name: 'Allow once' }).click()
  for (const tab of [chat, other]) {
    await tab.hasEnded('That is settled.')
    await expect(tab.approvals).toHaveCount(0)
  }
  expect(readFileSync(noteIn(server), 'utf8')).toBe(NOTE.content)
  await other.reads(await chat.transcript())
})

test('stopped: the call is not made, and its request is gone', async ({ chat, server }) => {
  await chat.stopButton.click()
  await chat.isIdle()
  await expect(chat.approvals).toHaveCount(0)
  expect(existsSync(noteIn(server))).toBe(false)
})
