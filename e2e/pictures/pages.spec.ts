/** Every page, in both themes, both languages, on a desk and on a phone. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fill, LANGUAGES, look, SCREENS, SCREENSHOTS, show, THEMES, views } from '../support/pages.ts'
import { test } from '../support/test.ts'

for (const [screen, options] of Object.entries(SCREENS)) {
  for (const theme of THEMES) {
    for (const language of LANGUAGES) {
      test(`${screen} ${theme} ${language}`, async ({ browser, chat, server, model, watch }) => {
        watch.allow(/status of 40[14]/)
        const session = await fill(chat, model)
        const state = await chat.page.context().storageState()
        const context = await browser.newContext({ ...options, storageState: state, reducedMotion: 'reduce' })
        const stranger = await browser.newContext({ ...options, reducedMotion: 'reduce' })
        const folder = join(SCREENSHOTS, `${screen}-${theme}-${language}`)
        mkdirSync(folder, { recursive: true })
        for (const view of await views(server, session)) {
          const page = await (view.anonymous ? stranger : context).newPage()
          await look(page, theme, language)
          await show(page, server, view)
          await page.screenshot({ path: join(folder, `${view.name}.png`) })
          await page.close()
        }
        await context.close()
        await stranger.close()
      })
    }
  }
}
