/** What goes wrong, what takes long, and what is not there. */

import { fail } from '../support/model.ts'
import { expect } from '../support/test.ts'
import { ROW, type Prepare, type Stage } from './stage.ts'

export async function trouble({ chat, model, shots }: Stage): Promise<void> {
  model.next(fail(401, 'Incorrect API key provided'))
  await chat.send('Hello')
  await expect(chat.page.getByRole('alert').first()).toBeVisible()
  await chat.isIdle()
  const address = `/s/${await chat.sessionId()}`
  await shots.take('model-error', address, ROW)
  const broken =
    (path: string): Prepare =>
    async (page) => {
      await page.route(path, (route) => route.fulfill({ status: 500, contentType: 'application/json', body: '{}' }))
      await page.reload()
      await page.locator('[role=alert]').first().waitFor()
    }
  for (const page of ['agents', 'channels', 'tools', 'skills', 'mcp-servers', 'memories']) {
    await shots.take(
      `error-${page}`,
      `/${page === 'memories' ? 'memory' : page}`,
      'main h1',
      broken(`**/admin/netaclaw/${page}*`),
    )
  }
  const endless: Prepare = async (page) => {
    await page.route('**/admin/netaclaw/{agents,channels,tools,skills}*', () => {})
    await page.goto(page.url().replace(/\/[^/]*$/, '/channels'))
    await page.locator('main .loading').waitFor()
  }
  await shots.take('loading-channels', '/memory', 'main h1', endless)
  await shots.take('offline', address, ROW, async (page) => {
    await page.context().setOffline(true)
    await page.locator('.pill[data-state]').waitFor()
    await page.locator('textarea').last().fill('A message that waits')
    await page.locator('textarea').last().press('Enter')
  })
}
