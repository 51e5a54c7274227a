/** On a Chinese page, what the app and the server say is Chinese. */

import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { call, fail, Hold, hold, say, think } from '../support/model.ts'
import { look, show, views } from '../support/pages.ts'
import { expect, test } from '../support/test.ts'

test.use({ trace: 'off' })

/**
 * English sentences that people see: four words in a row that are not code, an address or text of a user.
 * What others say (suppliers, models, programs) is in `code`, `pre` or in the parts of a row that are listed here.
 */
async function english(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const FOREIGN = [
      'code, pre, kbd, textarea, script, style, svg, .instructions',
      // Of models and users: Markdown, messages, arguments of calls, answers to questions, names of files.
      '.nc-prose, .bubble .text, .tool .headline, .tool .said, .files .name',
      // Of programs: results, errors of tools as the model reads them, and steps.
      '.tool .matches, .tool[data-status=error] .problem, .tool .progress, .tool-process-timeline .words',
    ].join()
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
  await expect(page.getByText('服务器上没有目录“/no/such”').first()).toBeVisible()
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

test('nor do the cards of calls, whatever comes of them', async ({ chat, server, model, page, watch }) => {
  test.slow()
  watch.allowNetworkFailures()
  await server.useAgent({ workspace: join(server.place, 'work'), approval: 'risky' })
  await look(page, 'light', 'zh')
  await page.reload()
  const faults: string[] = []
  const closed = page
    .locator('[data-row]')
    .locator('.line, .head, .thinking .title')
    .and(page.locator('[aria-expanded=false]'))
  const note = async (what: string) => {
    while ((await closed.count()) > 0) await closed.first().click()
    faults.push(...(await english(page)).map((text) => `${what}: ${text}`))
  }
  const status = () => page.locator('section.tool .status').last()

  model.next(think('想一想。'), call('ls', { path: '.' }), call('read', { path: '没有.txt' }), call('nonsense', {}))
  model.next(call('todo', { items: [{ text: '看一看', status: 'in_progress' }] }))
  model.next(say('看完了。'))
  await chat.ask('看一看', '看完了。')
  await note('done, failed and unknown')

  model.next(call('write', { path: '记录.txt', content: '牛奶' }))
  model.next(say('不写。'))
  await chat.send('记下来')
  await expect(status()).toHaveText('等待审批')
  await note('approval')
  await chat.approvals.getByRole('button', { name: '允许更多…' }).click()
  await note('scopes')
  await chat.approvals.getByRole('button', { name: '返回' }).click()
  await chat.approvals.getByRole('button', { name: '拒绝' }).click()
  await page.keyboard.press('Enter')
  await chat.hasEnded('不写。')
  await note('denied')

  model.next(call('write', { path: '记录.txt', content: '牛奶' }))
  model.next(say('写好了。'))
  await chat.send('还是记下来')
  await chat.approvals.getByRole('button', { name: '本会话内允许' }).click()
  await chat.hasEnded('写好了。')
  await note('allowed')

  await server.api('PATCH', 'tools/bash', { status: 'disabled' })
  model.next(call('bash', { command: 'echo' }))
  model.next(say('不行。'))
  await chat.ask('试一试', '不行。')
  await note('blocked')

  model.next(call('clarify', { question: '哪种颜色？', options: ['红', '蓝'] }))
  await chat.send('涂色')
  await expect(status()).toHaveText('等待您的回答')
  await note('question')
  await chat.stopButton.click()
  await chat.isIdle()
  await note('stopped')

  const point = new Hold()
  model.next(say('一'), hold(point))
  await chat.send('数一数')
  await expect(chat.rows.last()).toContainText('一')
  await server.kill()
  await note('disconnected')
  point.release()
  await server.start()
  await expect(chat.rows.last()).toContainText('已中断')
  await note('interrupted')

  await chat.field.fill('/compact')
  await chat.field.press('Enter')
  await expect(page.locator('[data-row][data-kind=compaction]')).toBeVisible()
  await note('compaction')
  expect(faults).toEqual([])
})
