/** What people meet besides the pages at rest, in four looks. */

import type { Browser, BrowserContextOptions } from '@playwright/test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beginnings, STATES, type Prepare, type Shots } from '../states/index.ts'
import { look, SCREENS, SCREENSHOTS, type Language, type Theme } from '../support/pages.ts'
import { Server } from '../support/server.ts'
import { test } from '../support/test.ts'

/** Every theme, language and screen at least twice. */
const LOOKS: readonly { screen: keyof typeof SCREENS; theme: Theme; language: Language }[] = [
  { screen: 'desktop', theme: 'light', language: 'en' },
  { screen: 'desktop', theme: 'dark', language: 'zh' },
  { screen: 'phone', theme: 'dark', language: 'zh' },
  { screen: 'phone', theme: 'light', language: 'en' },
]

/** Takes pictures of the same state of the server in every look. */
class Camera implements Shots {
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

for (const [name, make] of Object.entries(STATES)) {
  test(name, async ({ browser, chat, model, server }) => {
    const shots = new Camera(browser, server, { storageState: await chat.page.context().storageState() })
    await make({ chat, model, server, shots })
  })
}

test('strangers and beginnings', async ({ browser }) => {
  const server = new Server()
  try {
    await server.start()
    await beginnings({ server, shots: new Camera(browser, server, {}) })
  } finally {
    await server.remove()
  }
})
