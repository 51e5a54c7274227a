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

test('the number keys work from the empty field; with text in it, Alt and the number do', async ({
  chat,
  page,
  server,
}) => {
  await expect(chat.approvals).toHaveAttribute('data-armed', 'true')
  const once = chat.approvals.getByRole('button', { name: 'Allow once' })
  await expect(once.locator('kbd')).toHaveText('1')
  await expect(once).toHaveAttribute('aria-keyshortcuts', '1')
  await chat.field.focus()
  await page.keyboard.press('3')
  await expect(chat.approvals.getByRole('textbox')).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(once).toBeVisible()

  // A digit in a text is text, and Enter sends no decision.
  await chat.field.fill('take ')
  await expect(once.locator('kbd')).toHaveText('Alt+1')
  await chat.field.press('1')
  await expect(chat.field).toHaveValue('take 1')
  await expect(chat.approvals).toBeVisible()
  expect(existsSync(noteIn(server))).toBe(false)
  await chat.field.press('Alt+1')
  await chat.hasEnded('That is settled.')
  await expect(chat.field).toHaveValue('take 1')
  expect(readFileSync(noteIn(server), 'utf8')).toBe(NOTE.content)
})

test('Escape leaves the card and the field, and the call goes on waiting', async ({ chat, page }) => {
  await chat.approvals.focus()
  await page.keyboard.press('4')
  await expect(chat.approvals.getByRole('radio').first()).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(chat.approvals.getByRole('radio')).toHaveCount(0)
  await chat.approvals.focus()
  await page.keyboard.press('Escape')
  await expect(chat.field).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(chat.field).not.toBeFocused()
  await page.keyboard.press('Escape')
  await expect(chat.approvals).toBeVisible()
  await expect(chat.stopButton).toBeEnabled()
})

test('all edits of the session: shown, used, kept through kill -9, and ended', async ({
  chat,
  model,
  page,
  server,
}) => {
  await chat.approvals.getByRole('button', { name: 'Allow more' }).click()
  await chat.approvals.getByRole('radio', { name: 'all edits in the workspace' }).check()
  await chat.approvals.getByRole('button', { name: 'Allow', exact: true }).click()
  await chat.hasEnded('That is settled.')
  const standing = page.locator('[data-region=standing]')
  await expect(standing).toContainText('all edits in the workspace')

  const write = async (path: string, said: string) => {
    model.next(call('write', { path, content: path }))
    model.next(...words(said))
    await chat.send(`Write ${path}`)
  }
  await write('a.txt', 'First one written.')
  await chat.hasEnded('First one written.')
  await expect(chat.approvals).toHaveCount(0)
  const read = await chat.transcript()
  await chat.reload()
  await chat.reads(read)
  await expect(standing).toBeVisible()

  await server.kill()
  await server.start()
  await chat.reload()
  await expect(standing).toContainText('all edits in the workspace')
  await write('b.txt', 'Second one written.')
  await chat.hasEnded('Second one written.')
  await page.locator('.activity .line').last().click()
  await expect(page.locator('.allowed').last()).toContainText(
    'Allowed by: all edits in the workspace, for this session',
  )

  await standing.getByRole('button', { name: /^End:/ }).click()
  await expect(standing).toHaveCount(0)
  await write('c.txt', 'Not this one.')
  await expect(chat.approvals).toBeVisible()
  await chat.send('/edits')
  await expect(standing).toBeVisible()
})

test('a command pattern is narrowed, granted for the agent, and revoked in the settings', async ({
  chat,
  model,
  page,
  server,
}) => {
  await chat.approvals.getByRole('button', { name: 'Deny' }).click()
  await chat.approvals.getByRole('button', { name: 'Deny' }).click()
  await chat.hasEnded('That is settled.')
  const run = async (command: string, said: string) => {
    model.next(call('bash', { command }))
    model.next(...words(said))
    await chat.send(`Run ${command}`)
  }
  await run('echo one && echo two', 'It has run.')
  await chat.approvals.getByRole('button', { name: 'Allow more' }).click()
  const pattern = chat.approvals.getByLabel('Command pattern')
  await expect(pattern).toHaveValue('echo *')
  await pattern.fill('ls *')
  await chat.approvals.getByRole('button', { name: 'Allow', exact: true }).click()
  await expect(chat.approvals.getByRole('alert')).toContainText('cannot be granted')
  await pattern.fill('echo *')
  await chat.approvals.getByRole('radio', { name: 'All your sessions with this agent' }).check()
  await chat.approvals.getByRole('button', { name: 'Allow', exact: true }).click()
  await chat.hasEnded('It has run.')

  // In another session as well, but neither what is more than the pattern nor another command.
  const first = await chat.sessionId()
  await chat.newSession()
  await run('echo three', 'It has run again.')
  await chat.hasEnded('It has run again.')
  expect(await chat.sessionId()).not.toBe(first)
  expect(told(model)).toContain('three')
  await expect(chat.approvals).toHaveCount(0)
  await page.locator('.activity .line').click()
  await expect(page.locator('.allowed')).toContainText('Allowed by: echo *, for this agent')
  for (const command of ['echo four > file', 'printf four']) {
    await run(command, 'As you wish.')
    await expect(chat.approvals).toContainText(command)
    await chat.approvals.getByRole('button', { name: 'Deny' }).click()
    await chat.approvals.getByRole('button', { name: 'Deny' }).click()
    await chat.hasEnded('As you wish.')
    expect(told(model)).not.toContain('four\n')
  }

  await page.goto(`${server.address}/settings/approvals`)
  const row = page.locator('.records li', { hasText: 'echo *' })
  await expect(row).toContainText('granted by')
  await row.getByRole('button', { name: /^Revoke/ }).click()
  await expect(row).toHaveCount(0)
  await chat.newSession()
  await run('echo five', 'As you wish.')
  await expect(chat.approvals).toContainText('echo five')
})
