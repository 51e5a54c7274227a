/** Every page and every state, on a desk and on a phone, in both languages: what a careful eye and the Tab key would find. */

import type { Browser, BrowserContextOptions } from '@playwright/test'
import { beginnings, STATES, type Prepare, type Shots } from '../states/index.ts'
import { walk } from '../support/keyboard.ts'
import { judge } from '../support/layout.ts'
import { fill, look, show, views, type Language } from '../support/pages.ts'
import { Server } from '../support/server.ts'
import { expect, test } from '../support/test.ts'

// Hundreds of pages are checked, and faults are reported in words.
test.use({ trace: 'off' })

const SCREENS = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
} as const
type Screen = keyof typeof SCREENS

/** Each language on each screen for the pages; for the states, each at least once. */
const ALL: readonly (readonly [Screen, Language])[] = [
  ['desktop', 'en'],
  ['desktop', 'zh'],
  ['phone', 'en'],
  ['phone', 'zh'],
]
const SOME: typeof ALL = [
  ['desktop', 'en'],
  ['phone', 'zh'],
]

for (const [screen, language] of ALL) {
  test(`pages: ${screen}, ${language}`, async ({ browser, chat, server, model, watch }) => {
    test.slow()
    watch.allow(/status of 40[14]/)
    const session = await fill(chat, model)
    const options = { ...SCREENS[screen], reducedMotion: 'reduce' as const }
    const inside = await browser.newContext({ ...options, storageState: await chat.page.context().storageState() })
    const outside = await browser.newContext(options)
    const faults: string[] = []
    for (const view of await views(server, session)) {
      const page = await (view.anonymous ? outside : inside).newPage()
      await look(page, 'light', language)
      await test.step(view.name, async () => {
        await show(page, server, view)
        const found = [
          ...(await lasting(() => judge(page))),
          ...(isWalked(screen, language) ? await lasting(() => walk(page)) : []),
        ]
        faults.push(...found.map((fault) => `${view.name}: ${fault}`))
      })
      await page.close()
    }
    await inside.close()
    await outside.close()
    expect(faults).toEqual([])
  })
}

/** What stays wrong: a page that still comes to rest has things over each other for a moment. */
async function lasting(look: () => Promise<string[]>): Promise<string[]> {
  let faults: string[] = []
  const isFine = async () => {
    faults = await look()
    expect(faults).toEqual([])
  }
  await expect(isFine)
    .toPass({ timeout: 3_000 })
    .catch(() => undefined)
  return faults
}

/** Where Tab leads does not hang on the language, so each language is enough once. */
function isWalked(screen: Screen, language: Language): boolean {
  return SOME.some(([one, other]) => one === screen && other === language)
}

/** Looks at the same state of the server on both screens. */
class Inspector implements Shots {
  readonly faults: string[] = []

  constructor(
    private readonly browser: Browser,
    private readonly server: Server,
    private readonly options: BrowserContextOptions,
  ) {}

  async take(name: string, path: string, ready: string, prepare?: Prepare, prefs: object = {}): Promise<void> {
    for (const [screen, language] of SOME) {
      const context = await this.browser.newContext({ ...SCREENS[screen], ...this.options, reducedMotion: 'reduce' })
      const page = await context.newPage()
      await look(page, 'light', language, prefs)
      await test.step(`${name} ${screen}`, async () => {
        await page.goto(this.server.address + path)
        await page.locator(ready).first().waitFor()
        await prepare?.(page)
        this.faults.push(...(await lasting(() => judge(page))).map((fault) => `${name}, ${screen}: ${fault}`))
      })
      await context.close()
    }
  }
}

for (const [name, make] of Object.entries(STATES)) {
  test(`states: ${name}`, async ({ browser, chat, model, server, watch }) => {
    test.slow()
    watch.allow(/status of/)
    const shots = new Inspector(browser, server, { storageState: await chat.page.context().storageState() })
    await make({ chat, model, server, shots })
    expect(shots.faults).toEqual([])
  })
}

test('states: strangers and beginnings', async ({ browser }) => {
  const server = new Server()
  try {
    await server.start()
    const shots = new Inspector(browser, server, {})
    await beginnings({ server, shots })
    expect(shots.faults).toEqual([])
  } finally {
    await server.remove()
  }
})
