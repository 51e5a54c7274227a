/** Every page there is, for what is to hold on all of them. */

import { join } from 'node:path'
import { expect, type Browser, type Page } from '@playwright/test'
import { call, think, words, type FakeModel } from './model.ts'
import type { Chat } from './chat.ts'
import type { Server } from './server.ts'

/** A program that is an MCP server. */
export const MCP_SCRIPT = join(import.meta.dirname, 'mcp.mjs')

export const THEMES = ['light', 'dark'] as const
export const LANGUAGES = ['en', 'zh'] as const
export type Theme = (typeof THEMES)[number]
export type Language = (typeof LANGUAGES)[number]

/** Where pictures are written. */
export const SCREENSHOTS = process.env.SCREENSHOTS ?? join(import.meta.dirname, '../screenshots')
export const SCREENS = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
}

const RICH = `Here is the plan, with **bold**, \`code\` and a [link](https://example.org).

\`\`\`rust
fn main() {
    println!("你好"); // a comment
}
\`\`\`

| name | size |
| --- | ---: |
| a.txt | 12 kB |
| b.txt | 1 kB |

> A quotation, and a formula: $e^{i\\pi} + 1 = 0$

1. one
2. two

`

/** A session with something of everything in it. */
export async function fill(chat: Chat, model: FakeModel): Promise<string> {
  model.next(
    think('The user wants a plan; I look around first.'),
    call('ls', { path: '.' }),
    call('todo', {
      items: [
        { text: 'Look around', status: 'done' },
        { text: 'Write the plan', status: 'in_progress' },
      ],
    }),
  )
  model.next(...words(RICH))
  await chat.ask('Make me a plan 请做一个计划', 'two')
  model.next(...words('A second answer, beside the first.'))
  await chat.act(chat.rows.last(), 'Regenerate')
  await chat.hasEnded('A second answer')
  // Back to the one with something of everything.
  await chat.act(chat.rows.last(), 'Previous version')
  await chat.hasEnded('two')
  return await chat.sessionId()
}

export interface View {
  readonly name: string
  readonly path: string
  /** What has to be there before the page is looked at. */
  readonly ready: string
  readonly prepare?: (page: Page) => Promise<void>
  readonly anonymous?: boolean
}

export async function views(server: Server, session: string): Promise<View[]> {
  const agents = await server.api<{ items: { id: string }[] }>('GET', 'agents')
  const channels = await server.api<{ items: { id: string }[] }>('GET', 'channels')
  const agent = `/agents/${agents.items[0]!.id}`
  const mcpServer = await knownServer(server)
  const tab = (at: number) => async (page: Page) => {
    await page.getByRole('tab').nth(at).click()
    await expect(page.getByRole('tab').nth(at)).toHaveAttribute('aria-selected', 'true')
  }
  return [
    { name: 'new', path: '/new', ready: '[data-region=composer] textarea' },
    { name: 'session', path: `/s/${session}`, ready: '[data-kind=assistant]' },
    {
      name: 'session-tree',
      path: `/s/${session}`,
      ready: '[data-kind=assistant]',
      async prepare(page) {
        await page.locator('[data-region=transcript]').focus()
        await page.keyboard.press('t')
        await expect(page.locator('[role=treeitem]').first()).toBeVisible()
      },
    },
    {
      name: 'keys',
      path: `/s/${session}`,
      ready: '[data-kind=assistant]',
      async prepare(page) {
        await page.locator('[data-region=transcript]').focus()
        await page.keyboard.press('?')
        await expect(page.getByRole('dialog')).toBeVisible()
      },
    },
    { name: 'missing-session', path: '/s/00000000-0000-4000-8000-000000000000', ready: '.state h2' },
    { name: 'welcome', path: '/welcome', ready: 'h1' },
    { name: 'agents', path: '/agents', ready: '.records li' },
    { name: 'agent-basics', path: agent, ready: '[role=tab]' },
    { name: 'agent-model', path: agent, ready: '[role=tab]', prepare: tab(1) },
    { name: 'agent-tools', path: agent, ready: '[role=tab]', prepare: tab(2) },
    { name: 'agent-skills', path: agent, ready: '[role=tab]', prepare: tab(3) },
    { name: 'agent-prompt', path: agent, ready: '[role=tab]', prepare: tab(4) },
    { name: 'agent-new', path: '/agents/new', ready: '[role=tab]' },
    { name: 'channels', path: '/channels', ready: '.records li' },
    { name: 'channel', path: `/channels/${channels.items[0]!.id}`, ready: 'main input' },
    { name: 'channel-new', path: '/channels/new', ready: 'main input' },
    { name: 'tools', path: '/tools', ready: '.tools li' },
    {
      name: 'tools-open',
      path: '/tools',
      ready: '.tools li',
      async prepare(page) {
        await page.locator('.tools .more').first().click()
        await expect(page.locator('.tools .users a').first()).toBeVisible()
      },
    },
    { name: 'skills', path: '/skills', ready: '.records li' },
    { name: 'skill', path: '/skills/folder-audit', ready: '.trial form' },
    { name: 'skill-missing', path: '/skills/no-such-skill', ready: '[role=alert]' },
    { name: 'mcp-servers', path: '/mcp-servers', ready: '.records li' },
    { name: 'mcp-server', path: `/mcp-servers/${mcpServer}`, ready: 'main input' },
    { name: 'mcp-server-new', path: '/mcp-servers/new', ready: 'main input' },
    { name: 'memory', path: '/memory', ready: 'main h1' },
    { name: 'settings', path: '/settings', ready: '.section h2' },
    { name: 'settings-defaults', path: '/settings/defaults', ready: '.section h2' },
    { name: 'settings-account', path: '/settings/account', ready: '.section h2' },
    { name: 'settings-tokens', path: '/settings/tokens', ready: '.section h2' },
    { name: 'settings-users', path: '/settings/users', ready: '.section h2' },
    { name: 'settings-approvals', path: '/settings/approvals', ready: '.section h2' },
    { name: 'settings-audit', path: '/settings/audit', ready: '.section .records li' },
    { name: 'settings-about', path: '/settings/about', ready: '.section h2' },
    {
      name: 'settings-keys',
      path: '/settings/about',
      ready: '.section .links',
      async prepare(page) {
        await page.locator('.links button').click()
        await expect(page.getByRole('dialog')).toBeVisible()
      },
    },
    { name: 'not-found', path: '/no/such/page', ready: 'main a, main h1' },
    { name: 'login', path: '/login', ready: 'form input', anonymous: true },
  ]
}

/** The scripts and styles that a browser fetches for an open session, and what each takes on the wire. */
export async function chatFiles(
  browser: Browser,
  chat: Chat,
): Promise<{ url: string; bytes: number; encoding: string | null }[]> {
  const context = await browser.newContext({ storageState: await chat.page.context().storageState() })
  const page = await context.newPage()
  const urls = new Set<string>()
  page.on('response', (response) => {
    if (/\.(js|css)$/.test(new URL(response.url()).pathname)) urls.add(response.url())
  })
  await page.goto(chat.page.url())
  await expect(page.locator('[data-kind=assistant]')).toBeVisible()
  await context.close()
  return await Promise.all(
    [...urls].map(async (url) => {
      const { headers } = await fetch(url, { headers: { 'accept-encoding': 'gzip' } })
      return { url, bytes: Number(headers.get('content-length')), encoding: headers.get('content-encoding') }
    }),
  )
}

/** The id of an MCP server, which is made where there is none. */
async function knownServer(server: Server): Promise<string> {
  const { items } = await server.api<{ items: { id: string }[] }>('GET', 'mcp-servers')
  if (items[0]) return items[0].id
  const made = await server.api<{ id: string }>('POST', 'mcp-servers', {
    name: 'tracker',
    transport: { type: 'stdio', command: process.execPath, args: [MCP_SCRIPT] },
    status: 'enabled',
    tools: { enabled: [], disabled: [] },
    sandbox: { missing: 'warn', network: false },
    roots: [],
    timeoutMs: 60_000,
  })
  return made.id
}

/** Chosen as the page keeps it, so that the first paint has it already. */
export async function look(page: Page, theme: Theme, language: Language, others: object = {}): Promise<void> {
  await page.addInitScript((prefs) => localStorage.setItem('netaclaw.prefs', JSON.stringify(prefs)), {
    theme,
    language,
    ...others,
  })
}

export async function show(page: Page, server: Server, view: View): Promise<void> {
  await page.goto(server.address + view.path)
  await page.locator(view.ready).first().waitFor()
  // What is shown while something is fetched is a page of its own, and not this one.
  await expect(page.locator('main [aria-busy=true]')).toHaveCount(0)
  await view.prepare?.(page)
  await page.evaluate(() => document.fonts.ready)
}
