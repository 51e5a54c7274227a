/** What people meet besides the pages at rest: work under way, questions, dialogs, emptiness and trouble. */

import type { Browser, BrowserContextOptions, Page } from '@playwright/test'
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Chat } from '../support/chat.ts'
import { call, fail, Hold, hold, say, think, words } from '../support/model.ts'
import { look, MCP_SCRIPT, SCREENS, SCREENSHOTS, type Language, type Theme } from '../support/pages.ts'
import { Server, TOKEN } from '../support/server.ts'
import { StepSkill } from '../support/skill.ts'
import { expect, test } from '../support/test.ts'

/** Every theme, language and screen at least twice. */
const LOOKS: readonly { screen: keyof typeof SCREENS; theme: Theme; language: Language }[] = [
  { screen: 'desktop', theme: 'light', language: 'en' },
  { screen: 'desktop', theme: 'dark', language: 'zh' },
  { screen: 'phone', theme: 'dark', language: 'zh' },
  { screen: 'phone', theme: 'light', language: 'en' },
]

type Prepare = (page: Page) => Promise<unknown>

/** Takes pictures of the same state of the server in every look. */
class Camera {
  constructor(
    private readonly browser: Browser,
    private readonly server: Server,
    private readonly options: BrowserContextOptions,
  ) {}

  async take(name: string, path: string, ready: string, prepare?: Prepare, prefs: object = {}): Promise<void> {
    for (const { screen, theme, language } of LOOKS) {
      const context = await this.browser.newContext({ ...SCREENS[screen], ...this.options, reducedMotion: 'reduce' })
      const page = await context.newPage()
      await look(page, theme, language, prefs)
      await test.step(`${name} ${screen} ${theme}`, async () => {
        await page.goto(this.server.address + path)
        await page.locator(ready).first().waitFor()
        await prepare?.(page)
        const folder = join(SCREENSHOTS, `${screen}-${theme}-${language}`)
        mkdirSync(folder, { recursive: true })
        await page.screenshot({ path: join(folder, `state-${name}.png`) })
      })
      await context.close()
    }
  }
}

async function camera(browser: Browser, server: Server, chat: Chat): Promise<Camera> {
  return new Camera(browser, server, { storageState: await chat.page.context().storageState() })
}

const EVERYTHING = { verbosity: 'everything' }
const ROW = '[data-row]'

test('work on files', async ({ browser, chat, model, server }) => {
  const work = join(server.dataDir, 'work')
  await server.useAgent({ workspace: work, approval: 'never' })
  writeFileSync(join(work, 'main.rs'), 'fn main() {\n    let answer = 41;\n    println!("{answer}");\n}\n')
  execFileSync('mkfifo', [join(work, 'gate')])
  const shots = await camera(browser, server, chat)
  model.next(think('First I look.'), call('grep', { pattern: 'answer', path: '.' }), call('read', { path: 'main.rs' }))
  model.next(say('I mend it 我来修好它。'), call('edit', { path: 'main.rs', edits: [{ old_text: '41', new_text: '42' }] }), call('read', { path: 'no/such/file/with/a/very/long/path/that/goes/on/and/on.rs' }))
  model.next(call('todo', { items: [{ text: 'Look around', status: 'done' }, { text: 'Mend the answer, which takes a while and has a long description 修好答案', status: 'in_progress' }, { text: 'Build', status: 'pending' }] }), call('bash', { command: 'echo compiling; read word < gate; echo "$word"; echo compiled' }))
  model.next(...words('It builds now 构建成功。'))
  await chat.send('Mend and build 修好并构建')
  await expect(chat.page.locator('.tool pre').last()).toHaveText('compiling')
  await chat.send('And after that write the tests, all of them, for every single case there is')
  await chat.send('然后更新文档')
  const address = `/s/${await chat.sessionId()}`
  await shots.take('running', address, '.tool pre')
  await shots.take('running-everything', address, '.tool pre', undefined, EVERYTHING)
  await shots.take('queue-edit', address, 'section.queue li', (page) => page.locator('section.queue li button:enabled').nth(1).click())
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
  await shots.take('picker', address, ROW, (page) => page.locator('.picker button').last().click())
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
      { name: 'a-file-with-a-rather-long-name-that-does-not-fit.txt', mimeType: 'text/plain', buffer: Buffer.from('some text') },
      { name: 'picture.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40" fill="teal"/></svg>') },
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
  })
  await shots.take('tree', address, ROW, async (page) => {
    await page.locator('[data-region=transcript]').focus()
    await page.keyboard.press('t')
    await page.locator('[role=treeitem]').first().waitFor()
  })
})

async function openSidebar(page: Page): Promise<void> {
  if (!(await page.locator('.session').first().isVisible())) await page.locator('.header button').first().click()
}

test('skills', async ({ browser, chat, model, page, server }) => {
  const work = join(server.dataDir, 'work')
  await server.useAgent({ workspace: work, approval: 'never' })
  const skill = new StepSkill(server.dataDir, work)
  const shots = await camera(browser, server, chat)
  model.next(call('execute_skill', { name: 'stepper', input: { gates: skill.gates, words: 'one two', repeat: 30 } }))
  model.next(...words('The steps are done.'))
  await chat.send('Go through it')
  skill.open('scan')
  await expect(page.locator('.tool .progress')).toContainText('in scan')
  const address = `/s/${await chat.sessionId()}`
  await shots.take('skill-running', address, '.tool .progress')
  await shots.take('skill-running-open', address, '.tool .progress', (page) => page.locator('.tool .head').click())
  skill.open('hash', 'report')
  await chat.hasEnded('The steps are done.')
  const script = join(import.meta.dirname, '../../skills/vehicle-damage-inspection/scripts/sample_frames.py')
  await promisify(execFile)('python3', [script, join(work, 'car')])
  await chat.newSession()
  model.next(call('execute_skill', { name: 'vehicle-damage-inspection', input: { source: 'car/after', reference: 'car/before' } }))
  model.next(...words('The inspection is done.'))
  await chat.ask('Look for damage', 'The inspection is done.')
  const inspection = `/s/${await chat.sessionId()}`
  const openCard: Prepare = async (page) => {
    await page.locator('.activity .line').click()
    await page.locator('.tool .head').click()
    await page.locator('.tool img').first().waitFor()
  }
  await shots.take('vehicle', inspection, '.activity .line', async (page) => {
    await openCard(page)
    await page.locator('.tool .head').evaluate((head) => head.scrollIntoView())
  })
  await shots.take('vehicle-pictures', inspection, '.activity .line', async (page) => {
    await openCard(page)
    await page.locator('.tool img').first().evaluate((image: HTMLImageElement) => image.decode().then(() => image.scrollIntoView({ block: 'center' })))
  })
  await shots.take('vehicle-picture', inspection, '.activity .line', async (page) => {
    await openCard(page)
    await page.locator('.tool img').first().click()
    await page.getByRole('dialog').waitFor()
  })
  await shots.take('vehicle-log', inspection, '.activity .line', async (page) => {
    await openCard(page)
    await page.locator('.tool').getByRole('button', { name: /full log|完整日志/ }).click()
    await page.getByRole('dialog').locator('.step').first().waitFor()
  })
  await shots.take('skill-trial-wrong', '/skills/stepper', '.trial form', async (page) => {
    await page.locator('.trial form button[type=submit]').click()
    await page.locator('.trial .error').first().scrollIntoViewIfNeeded()
  })
  skill.close()
})

test('questions and consent', async ({ browser, chat, model, server }) => {
  await server.useAgent({ workspace: join(server.dataDir, 'work'), approval: 'always' })
  const shots = await camera(browser, server, chat)
  model.next(call('write', { path: 'notes/shopping.txt', content: 'Remember the milk.\n别忘了买牛奶。\n' }))
  await chat.send('Note it down')
  await expect(chat.approvals).toBeVisible()
  await shots.take('approval', `/s/${await chat.sessionId()}`, '[data-region=approval]')
  await shots.take('approval-deny', `/s/${await chat.sessionId()}`, '[data-region=approval]', (page) => page.locator('[data-region=approval] [aria-keyshortcuts="3"]').click())
  await server.changeAgent({ approval: 'never' })
  await chat.newSession()
  model.next(call('clarify', { question: 'Which **colour** should the door of the house have? 门应该是什么颜色？', options: ['red', 'blue, like the sky in the morning, with a bit of white in it so that it is not too dark', '绿色'] }))
  await chat.send('Paint it')
  await expect(chat.questions).toBeVisible()
  await shots.take('clarify', `/s/${await chat.sessionId()}`, 'section.question')
})

test('compaction', async ({ browser, chat, model, server }) => {
  model.billsByLength = true
  await server.useModel(model.address, 'small', 24_000)
  const shots = await camera(browser, server, chat)
  const long = 'The colour of the door is blue, and that of the gate is green. '.repeat(45)
  for (let turn = 1; turn <= 7; turn++) {
    model.next(say(`Answer ${turn}. ${long}`))
    await chat.ask(`Question ${turn}. ${long}`, `Answer ${turn}.`)
  }
  const address = `/s/${await chat.sessionId()}`
  await shots.take('meter-full', address, '.meter', (page) => page.locator('.meter').click())
  const point = new Hold()
  model.next(hold(point), say('Short.'))
  model.next(say('Short again.'))
  await chat.send('/compact mind the colours')
  await point.reached
  await shots.take('compaction-running', address, '[data-kind=compaction]')
  point.release()
  await expect(chat.page.locator('[data-kind=compaction]')).toContainText('failed')
  await chat.isIdle()
  await shots.take('compaction-failed', address, ROW)
  model.next(say(`## Goal\n\nFind out the **colours** of all parts of the house.\n\n## Done\n\n${'The door is blue and the gate is green; both were looked at twice. '.repeat(5)}`))
  await chat.send('/compact mind the colours')
  await expect(chat.page.locator('[data-kind=compaction]').last()).toContainText('compacted')
  await shots.take('compaction-done', address, '[data-kind=compaction]')
  await shots.take('compaction-summary', address, '[data-kind=compaction]', async (page) => {
    await page.locator('[data-kind=compaction] button').first().click()
    await page.getByRole('dialog').locator('strong').waitFor()
  })
  await shots.take('compaction-divider', address, '[data-kind=compaction]', async (page) => {
    await page.locator('[data-region=transcript]').focus()
    await expect(async () => {
      await page.keyboard.press('Home')
      await expect(page.locator('[data-kind=folded]')).toBeVisible({ timeout: 500 })
    }).toPass()
  })
})

test('trouble', async ({ browser, chat, model, server }) => {
  const shots = await camera(browser, server, chat)
  model.next(fail(401, 'Incorrect API key provided'))
  await chat.send('Hello')
  await expect(chat.page.getByRole('alert').first()).toBeVisible()
  await chat.isIdle()
  const address = `/s/${await chat.sessionId()}`
  await shots.take('model-error', address, ROW)
  const broken = (path: string): Prepare => async (page) => {
    await page.route(path, (route) => route.fulfill({ status: 500, contentType: 'application/json', body: '{}' }))
    await page.reload()
    await page.locator('[role=alert]').first().waitFor()
  }
  for (const page of ['agents', 'channels', 'tools', 'skills', 'mcp-servers', 'memories']) {
    await shots.take(`error-${page}`, `/${page === 'memories' ? 'memory' : page}`, 'main h1', broken(`**/admin/netaclaw/${page}*`))
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
})

test('records', async ({ browser, chat, model, server }) => {
  const shots = await camera(browser, server, chat)
  await shots.take('mcp-none', '/mcp-servers', 'main h1')
  for (const text of ['Prefers short answers in Chinese 喜欢简短的中文回答', `Works on a long project whose name is ${'very '.repeat(30)}long`]) await server.api('POST', 'memories', { text, agentId: null })
  await shots.take('memory', '/memory', '.records li')
  await shots.take('memory-edit', '/memory', '.records li', async (page) => {
    await page.locator('main .nc-button[data-kind=primary]').click()
    await page.getByRole('dialog').waitFor()
  })
  await server.api('POST', 'mcp-servers', { name: 'tracker', transport: { type: 'stdio', command: process.execPath, args: [MCP_SCRIPT] }, status: 'enabled', tools: { enabled: [], disabled: [] }, sandbox: { missing: 'warn', network: false }, roots: [], timeoutMs: 60_000 })
  await server.api('POST', 'mcp-servers', { name: 'broken', transport: { type: 'stdio', command: '/no/such/program', args: [] }, status: 'enabled', tools: { enabled: [], disabled: [] }, sandbox: { missing: 'warn', network: false }, roots: [], timeoutMs: 60_000 })
  await shots.take('mcp-list', '/mcp-servers', '.records li:nth-child(2)')
  const agents = await server.api<{ items: { id: string }[] }>('GET', 'agents')
  const agent = `/agents/${agents.items[0]!.id}`
  await shots.take('agent-unsaved', agent, '[role=tab]', async (page) => {
    await page.locator('main input').nth(1).fill('Changed')
    await page.locator('main input').nth(0).fill('')
  })
  await shots.take('agent-leave', agent, '[role=tab]', async (page) => {
    await page.locator('main input').nth(1).fill('Changed')
    await page.locator('main a').first().click()
  })
  await shots.take('agent-tool-open', agent, '[role=tab]', async (page) => {
    await page.getByRole('tab').nth(2).click()
    await page.locator('main details summary').first().click()
    await page.locator('main .tools [aria-expanded=false]').first().click()
  })
  await shots.take('agent-menu', '/agents', '.records li', (page) => page.locator('.records [aria-haspopup=menu]').first().click())
  const channels = await server.api<{ items: { id: string }[] }>('GET', 'channels')
  await shots.take('channel-tested', '/channels', '.records li', async (page) => {
    await page.locator('.records .nc-button').first().click()
    await page.locator('.records [role=status]').first().waitFor()
  })
  await model.stop()
  await shots.take('channel-broken', `/channels/${channels.items[0]!.id}`, 'main input', async (page) => {
    await page.locator('main button').filter({ hasText: /Test connection|测试/ }).click()
    await expect(page.locator('main [role=status]').filter({ hasText: /\S/ }).first()).toBeVisible()
  })
  await shots.take('channel-new-wrong', '/channels/new', 'main input', (page) => page.locator('main .nc-button[data-kind=primary]').last().click())
  await shots.take('token-made', '/settings/tokens', '.section h2', async (page) => {
    await page.locator('.section .nc-button[data-kind=primary]').first().click()
    await page.getByRole('dialog').locator('input').first().fill('a robot')
    await page.getByRole('dialog').locator('.nc-button[data-kind=primary]').click()
    await page.locator('.secret code').waitFor()
  })
  await model.start()
})

test('strangers and beginnings', async ({ browser }) => {
  const server = new Server()
  try {
    await server.start()
    const outside = new Camera(browser, server, {})
    await outside.take('login-wrong', '/login', 'form input', async (page) => {
      await page.locator('form input').fill('wrong')
      await page.locator('form button[type=submit]').click()
      await page.locator('[role=alert]').filter({ hasText: /\S/ }).waitFor()
    })
    const entered = new Camera(browser, server, {})
    await entered.take('first-run', `/?token=${TOKEN}`, '[data-region=composer] textarea')
    await entered.take('demo-answer', `/?token=${TOKEN}`, '.tries button', async (page) => {
      await page.locator('.tries button').first().click()
      await expect(page.locator('[data-kind=stop]')).toHaveCount(0)
      await page.locator('[data-kind=assistant]').first().waitFor()
    })
    await entered.take('welcome-chosen', `/?token=${TOKEN}`, '[data-region=composer] textarea', async (page) => {
      await page.goto(`${server.address}/welcome`)
      await page.getByRole('radiogroup').locator('label').last().click()
    })
  } finally {
    await server.remove()
  }
})
