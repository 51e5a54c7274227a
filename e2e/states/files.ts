/** Work on files: a run with tools, its queue, its menus, and all that hangs around it. */

import type { Page } from '@playwright/test'
import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { call, say, think, words } from '../support/model.ts'
import { expect } from '../support/test.ts'
import { EVERYTHING, ROW, type Stage } from './stage.ts'

export async function workOnFiles({ chat, model, server, shots }: Stage): Promise<void> {
  const work = join(server.place, 'work')
  await server.useAgent({ workspace: work, approval: 'never' })
  writeFileSync(join(work, 'main.rs'), 'fn main() {\n    let answer = 41;\n    println!("{answer}");\n}\n')
  execFileSync('mkfifo', [join(work, 'gate')])
  model.next(think('First I look.'), call('grep', { pattern: 'answer', path: '.' }), call('read', { path: 'main.rs' }))
  model.next(
    say('I mend it 我来修好它。'),
    call('edit', { path: 'main.rs', edits: [{ old_text: '41', new_text: '42' }] }),
    call('read', { path: 'no/such/file/with/a/very/long/path/that/goes/on/and/on.rs' }),
  )
  model.next(
    call('todo', {
      items: [
        { text: 'Look around', status: 'done' },
        { text: 'Mend the answer, which takes a while and has a long description 修好答案', status: 'in_progress' },
        { text: 'Build', status: 'pending' },
      ],
    }),
    call('bash', { command: 'echo compiling; read word < gate; echo "$word"; echo compiled' }),
  )
  model.next(...words('It builds now 构建成功。'))
  await chat.send('Mend and build 修好并构建')
  await expect(chat.page.locator('.tool pre').last()).toHaveText('compiling')
  await chat.send('And after that write the tests, all of them, for every single case there is')
  await chat.send('然后更新文档')
  const address = `/s/${await chat.sessionId()}`
  await shots.take('running', address, '.tool pre')
  await shots.take('running-everything', address, '.tool pre', undefined, EVERYTHING)
  await shots.take('queue-edit', address, 'section.queue li', (page) =>
    page.locator('section.queue li button:enabled').nth(1).click(),
  )
  await promisify(execFile)('sh', ['-c', `echo linking > ${join(work, 'gate')}`])
  await expect(chat.queue).toHaveCount(0)
  await chat.isIdle()
  await shots.take('activity-open', address, '.activity .line', async (page) => {
    await page.locator('.activity .line').first().click()
    for (const head of await page.locator('.tool .head').all()) await head.click()
  })
  await shots.take('done-everything', address, ROW, undefined, EVERYTHING)
  await shots.take('message-menu', address, ROW, async (page) => {
    await page.locator('[data-kind=assistant]').last().hover()
    await page.locator('[data-kind=assistant] [aria-haspopup=menu]').last().click()
  })
  await shots.take('message-edit', address, '[data-kind=user]', async (page) => {
    await page.locator('[data-kind=user]').last().hover()
    await page.locator('[data-kind=user] .actions button').nth(1).click()
  })
  await shots.take('commands', address, ROW, (page) => page.locator('textarea').last().pressSequentially('/'))
  await shots.take('picker', address, ROW, (page) => page.locator('.pickers button').last().click())
  await shots.take('meter', address, '.meter', (page) => page.locator('.meter').click())
  await shots.take('find', address, ROW, async (page) => {
    await page.locator('[data-region=transcript]').focus()
    await page.keyboard.press('Control+f')
    await page.getByRole('search').getByRole('textbox').fill('main')
    await expect(page.getByRole('search').getByRole('status')).toContainText(/\d/)
  })
  await shots.take('header-menu', address, ROW, (page) => page.locator('.header [aria-haspopup=menu]').last().click())
  await shots.take('attachments', address, ROW, async (page) => {
    await page.locator('input[type=file]').setInputFiles([
      {
        name: 'a-file-with-a-rather-long-name-that-does-not-fit.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('some text'),
      },
      {
        name: 'picture.svg',
        mimeType: 'image/svg+xml',
        buffer: Buffer.from(
          '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40" fill="teal"/></svg>',
        ),
      },
    ])
    await expect(page.locator('.attachments li')).toHaveCount(2)
  })
  await shots.take('session-menu', address, ROW, async (page) => {
    await openSidebar(page)
    await page.locator('.session').first().hover()
    await page.locator('.session [aria-haspopup=menu]').first().click()
  })
  await shots.take('session-delete', address, ROW, async (page) => {
    await openSidebar(page)
    await page.locator('.session').first().hover()
    await page.locator('.session [aria-haspopup=menu]').first().click()
    await page.getByRole('menuitem').last().click()
    await page.getByRole('dialog').waitFor()
  })
  await shots.take('session-search-none', address, ROW, async (page) => {
    await openSidebar(page)
    await page.locator('#session-search').fill('nothing of this kind')
    await page.locator('.nothing').waitFor()
  })
  await shots.take('tree', address, ROW, async (page) => {
    await page.locator('[data-region=transcript]').focus()
    await page.keyboard.press('t')
    await page.locator('[role=treeitem]').first().waitFor()
  })
}

async function openSidebar(page: Page): Promise<void> {
  if (!(await page.locator('.session').first().isVisible())) await page.locator('.header button').first().click()
}
