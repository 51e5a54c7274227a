/** Every page in both themes: nothing serious for axe, nothing in the console. */

import axe from 'axe-core'
import { Chat } from '../support/chat.ts'
import { fill, look, show, THEMES, views } from '../support/pages.ts'
import { expect, test, Watch } from '../support/test.ts'

for (const theme of THEMES) {
  test(`axe finds nothing serious on any page, ${theme}`, async ({ browser, chat, server, model }) => {
    test.slow()
    const session = await fill(chat, model)
    const context = await browser.newContext({ storageState: await chat.page.context().storageState() })
    const stranger = await browser.newContext()
    const watch = new Watch()
    // A user without access sees why.
    watch.allow(/status of 401/)
    watch.allow(/status of 404.*0{8}-0000|404.*no\/such|404.*no-such-skill/)
    const problems: string[] = []
    for (const one of [context, stranger]) await watch.on(one)
    const [page, outside] = [await context.newPage(), await stranger.newPage()]
    for (const one of [page, outside]) await look(one, theme, theme === 'dark' ? 'zh' : 'en')
    for (const view of await views(server, session)) {
      const at = view.anonymous ? outside : page
      await test.step(view.name, () => show(at, server, view))
      await at.evaluate(axe.source)
      const found = await at.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run())
      for (const { id, impact, help, nodes } of found.violations) {
        if (impact === 'serious' || impact === 'critical')
          problems.push(
            `${view.name}: ${impact} ${id}: ${help}: ${nodes
              .slice(0, 3)
              .map((node) => `${node.target} ${node.any[0]?.message ?? ''}`)
              .join('; ')}`,
          )
      }
      const wide = await at.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      if (wide > 0) problems.push(`${view.name}: ${wide} px wider than the window`)
    }
    expect(problems).toEqual([])
    expect(watch.complaints).toEqual([])
    await context.close()
    await stranger.close()
  })
}

test('nothing is wider than a phone', async ({ browser, chat, server, model }) => {
  test.slow()
  const session = await fill(chat, model)
  const context = await browser.newContext({
    storageState: await chat.page.context().storageState(),
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
  })
  const page = await context.newPage()
  const problems: string[] = []
  for (const view of await views(server, session)) {
    if (view.anonymous) continue
    await test.step(view.name, () => show(page, server, view))
    const wide = await page.evaluate(() =>
      Math.max(
        ...[document.documentElement, ...document.querySelectorAll('dialog[open] .content')].map(
          (part) => part.scrollWidth - part.clientWidth,
        ),
      ),
    )
    if (wide > 0) problems.push(`${view.name}: ${wide} px`)
  }
  expect(problems).toEqual([])
  await new Chat(page).newSession()
  await context.close()
})
