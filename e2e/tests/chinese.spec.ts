/** On a Chinese page, what the app and the server say is Chinese. */

import type { Page } from '@playwright/test'
import { fail, say } from '../support/model.ts'
import { look, show, views } from '../support/pages.ts'
import { expect, test } from '../support/test.ts'

test.use({ trace: 'off' })

/**
 * English sentences that people see: four words in a row that are not code, an address or text of a user.
 * What others say (suppliers, models, programs) stands in `code`, `pre` or in a message.
 */
async function english(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const FOREIGN = 'code, pre, kbd, textarea, script, style, svg, [data-row], .instructions'
    const SENTENCE = /(?:[A-Za-z][a-z'’]*[ ,]+){3,}[a-z]{2,}/
    const found: string[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement
      if (!parent || parent.closest(FOREIGN) || !parent.checkVisibility()) continue
      const text = (node.textContent ?? '').replace(/\s+/g, ' ')
      if (SENTENCE.test(text)) found.push(text.trim())
    }
    for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]')) {
      if (element.closest(FOREIGN)) continue
      for (const name of ['aria-label', 'title', 'placeholder']) {
        const text = element.getAttribute(name) ?? ''
        if (SENTENCE.test(text)) found.push(`${name}: ${text}`)
      }
    }
    return [...new Set(found)]
  })
}

test('no page says an English sentence of ours', async ({ chat, server, model, page, watch }) => {
  test.slow()
  watch.allow(/status of 40[14]/)
  // What is on a page besides the app's own words is Chinese as well.
  const { items } = await server.api<{ items: { id: string }[] }>('GET', 'agents')
  await server.api('PATCH', `agents/${items[0]!.id}`, { description: '回答问题，处理文件。' })
  model.next(say('好的。'))
  await chat.ask('请做一个计划', '好的。')
  const session = await chat.sessionId()
  await look(page, 'light', 'zh')
  const faults: string[] = []
  for (const view of await views(server, session)) {
    if (view.anonymous) continue
    await test.step(view.name, async () => {
      await show(page, server, view)
      faults.push(...(await english(page)).map((text) => `${view.name}: ${text}`))
    })
  }
  expect(faults).toEqual([])
})

test('nor does what the server says when something goes wrong', async ({ chat, server, model, page, watch }) => {
  test.slow()
  watch.allow(/status of 4\d\d/)
  await look(page, 'light', 'zh')
  await page.reload()
  const faults: string[] = []
  const note = async (what: string) => faults.push(...(await english(page)).map((text) => `${what}: ${text}`))

  // A retry, and what the supplier says only on demand.
  model.next(fail(429, 'Slow down, you are sending too many requests'))
  await chat.send('你好')
  await expect(page.locator('.run .retry')).toContainText('秒后重试')
  await note('retry')
  await chat.hasEnded('You said')

  // Errors of the model, with their buttons.
  model.next(fail(401, 'No such key'))
  await chat.send('再来')
  const error = page.getByRole('alert').first()
  await expect(error).toContainText('API 密钥')
  await expect(error.getByRole('button', { name: '打开渠道' })).toBeVisible()

  const { items } = await server.api<{ items: { id: string }[] }>('GET', 'agents')

  // A channel that cannot be reached, and an address that is none.
  await page.goto(`${server.address}/welcome`)
  await page.getByRole('radiogroup').getByText('OpenAI 兼容接口').click()
  await page.getByLabel('Base URL').fill('not an address')
  await page.locator('form button[type=submit]').first().click()
  await expect(page.getByText(/Base URL：.*http/)).toBeVisible()
  await note('bad address')
  await page.getByLabel('Base URL').fill('http://127.0.0.1:9/v1')
  await page.locator('form button[type=submit]').first().click()
  await expect(page.getByText('无法连接模型服务').first().or(page.getByText(/无法/).first())).toBeVisible()
  await note('connection test')

  // A workspace that does not exist.
  await page.goto(`${server.address}/agents/${items[0]!.id}`)
  await page
    .getByLabel('工作区', { exact: true })
    .or(page.getByLabel('工作目录', { exact: true }))
    .first()
    .fill('/no/such')
  await page.getByRole('button', { name: '保存', exact: true }).click()
  await expect(page.getByText('服务器上没有目录“/no/such”')).toBeVisible()
  await note('workspace')

  // An MCP server that does not start.
  const made = await server.api<{ id: string }>('POST', 'mcp-servers', {
    name: 'broken',
    transport: { type: 'stdio', command: '/no/such/program', args: [] },
    status: 'enabled',
    tools: { enabled: [], disabled: [] },
    sandbox: { missing: 'warn', network: false },
    roots: [],
    timeoutMs: 60_000,
  })
  await page.goto(`${server.address}/mcp-servers/${made.id}`)
  await page.getByRole('button', { name: /测试/ }).first().click()
  await expect(page.getByText(/无法启动|未能启动/).first()).toBeVisible()
  await note('MCP')
  expect(faults).toEqual([])
})
