/** Work on files, seen while it happens: what changes, what a command prints, and how it is stopped. */

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { call, say, words } from '../support/model.ts'
import { expect, test } from '../support/test.ts'
import type { Server } from '../support/server.ts'

const inWork = (server: Server, name: string) => join(server.place, 'work', name)
/** Prints, waits until the test writes to the pipe, and prints again. */
const BUILD = { command: 'echo compiling; read word < gate; echo "$word"; echo compiled' }

test.beforeEach(async ({ server }) => {
  await server.useAgent({ workspace: join(server.place, 'work'), approval: 'never' })
  writeFileSync(inWork(server, 'main.rs'), 'fn main() {\n    let answer = 41;\n}\n')
  execFileSync('mkfifo', [inWork(server, 'gate')])
})

test('a change is shown as a diff, and a command while it prints', async ({ chat, model, server }) => {
  model.next(say('I mend it.'), call('edit', { path: 'main.rs', edits: [{ old_text: '41', new_text: '42' }] }))
  model.next(call('bash', BUILD))
  model.next(...words('It builds now.'))
  await chat.send('Mend and build')

  const bash = chat.page.locator('.tool').filter({ hasText: 'Run command' })
  await expect(bash).toHaveAttribute('data-status', 'running')
  await expect(bash.locator('pre')).toHaveText('compiling')
  await writeFile(inWork(server, 'gate'), 'linking\n')
  await chat.hasEnded('It builds now.')

  expect(readFileSync(inWork(server, 'main.rs'), 'utf8')).toContain('let answer = 42;')
  for (const pass of ['live', 'after a reload']) {
    await chat.row('Used').getByRole('button').first().click()
    const edit = chat.page.locator('.tool').filter({ hasText: 'Edit file' })
    await expect(edit, pass).toContainText('+1')
    await edit.getByRole('button').first().click()
    await expect(edit.locator('.diff'), pass).toContainText('let answer = 42;')
    await expect(edit.locator('.diff'), pass).toContainText('let answer = 41;')
    await bash.getByRole('button').first().click()
    await expect(bash.locator('pre').last(), pass).toContainText(/compiling\s+linking\s+compiled/)
    await chat.reload()
  }
})

test('stopped in the middle: the change stays, the command has ended, and the foot stands below', async ({
  chat,
  model,
  server,
}) => {
  model.next(say('I mend it.'), call('edit', { path: 'main.rs', edits: [{ old_text: '41', new_text: '42' }] }))
  model.next(say('Now I build.'), call('bash', BUILD))
  await chat.send('Mend and build')
  const bash = chat.page.locator('.tool').filter({ hasText: 'Run command' })
  await expect(bash.locator('pre')).toHaveText('compiling')
  await chat.stopButton.click()
  await chat.isIdle()
  expect(readFileSync(inWork(server, 'main.rs'), 'utf8')).toContain('42')
  await expect(bash).toContainText('Stopped')
  await expect(chat.rows.last()).toContainText('Stopped.')
  await expect(chat.rows.last().getByRole('button', { name: 'Regenerate' })).toBeVisible()
  await expect(chat.page.getByRole('button', { name: 'Regenerate' })).toHaveCount(1)
  const read = await chat.transcript()
  await chat.reload()
  await chat.reads(read)
})
