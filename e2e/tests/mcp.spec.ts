/** MCP servers: named, tried, kept, used and taken away. */

import { call, words } from '../support/model.ts'
import { MCP_SCRIPT } from '../support/pages.ts'
import { expect, test } from '../support/test.ts'

test('a server is tried before it is kept, its tools are used in a chat, and it goes again', async ({
  chat,
  model,
  page,
  server,
}) => {
  await page.goto(`${server.address}/mcp-servers`)
  await expect(page.getByText('No MCP servers')).toBeVisible()
  await page.getByRole('link', { name: 'New server' }).click()
  await page.getByLabel('Name', { exact: false }).first().fill('tracker')

  // One that is not there says so, and nothing is kept of it.
  await page.getByLabel('Command', { exact: false }).fill('/no/such/program')
  await page.getByRole('button', { name: 'Test connection' }).click()
  await expect(page.getByRole('status').filter({ hasText: '/no/such/program' })).toBeVisible()

  await page.getByLabel('Command', { exact: false }).fill(process.execPath)
  await page.getByLabel('Arguments', { exact: false }).fill(MCP_SCRIPT)
  await page.getByRole('button', { name: 'Test connection' }).click()
  await expect(page.locator('.tools code')).toHaveText(['count', 'greet'])
  await page.getByRole('button', { name: 'Create' }).click()
  await page.waitForURL(/\/mcp-servers\/(?!new)/)

  await page.goto(`${server.address}/mcp-servers`)
  const row = page.locator('.records li', { hasText: 'tracker' })
  await expect(row).toContainText('Connected')
  await expect(row).toContainText('2 tools')

  await page.goto(`${server.address}/new`)
  model.next(call('mcp__tracker__greet', {}))
  model.next(...words('It said hello.'))
  await chat.send('Greet me')
  // What it may do is asked about: it says of itself that it is harmless, and that counts for nothing.
  await chat.approvals.getByRole('button', { name: 'Allow once' }).click()
  await chat.hasEnded('It said hello.')
  const card = page.locator('.tool', { hasText: 'greet · tracker' })
  const read = await chat.transcript()
  await chat.reload()
  await chat.reads(read)
  if ((await card.count()) === 0) await page.locator('.activity .line').click()
  await card.locator('.head').click()
  await expect(card).toContainText('hello from the test')

  await page.goto(`${server.address}/mcp-servers`)
  await row
    .getByRole('button', { name: /Actions|tracker/ })
    .last()
    .click()
  await page.getByRole('menuitem', { name: 'Disable' }).click()
  await expect(row).toContainText('Disabled')
  await row
    .getByRole('button', { name: /Actions|tracker/ })
    .last()
    .click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByText('No MCP servers')).toBeVisible()
})
