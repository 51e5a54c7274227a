/** A session is a tree: branches are made, walked, named and forked, and a reload changes nothing of it. */

import { call, say } from '../support/model.ts'
import { expect, test } from '../support/test.ts'
import type { Chat } from '../support/chat.ts'

/** The page reads the same after a reload. */
async function survivesReload(chat: Chat): Promise<void> {
  const before = await chat.transcript()
  await chat.reload()
  await chat.reads(before, 'the path after a reload')
}

test('an edited message becomes a branch, and the switcher leads back', async ({ chat }) => {
  await chat.ask('Red', 'You said: Red')
  await chat.ask('More', 'You said: More')
  await chat.act(chat.row('Red').first(), 'Edit')
  const edit = chat.page.getByRole('textbox', { name: 'Edit message' })
  await edit.fill('Blue')
  await edit.press('Enter')
  await chat.hasEnded('You said: Blue')
  await expect(chat.rows).toHaveCount(2)
  await expect(chat.rows.first()).toContainText('2/2')
  await survivesReload(chat)

  await chat.act(chat.rows.first(), 'Previous version')
  await chat.hasEnded('You said: More')
  await expect(chat.rows).toHaveCount(4)
  await expect(chat.rows.first()).toContainText('1/2')
  await survivesReload(chat)

  // By keys: the fork remembers where each branch was left.
  await chat.field.press('Alt+ArrowRight')
  await chat.hasEnded('You said: Blue')
  await chat.field.press('Alt+ArrowLeft')
  await chat.hasEnded('You said: More')
})

test('another answer stands beside the first', async ({ chat, model }) => {
  await chat.ask('Red', 'You said: Red')
  model.next({ kind: 'text', text: 'Another answer' })
  await chat.act(chat.rows.last(), 'Regenerate')
  await chat.hasEnded('Another answer')
  await expect(chat.rows).toHaveCount(2)
  await expect(chat.rows.last()).toContainText('2/2')
  await survivesReload(chat)
  await chat.act(chat.rows.last(), 'Previous version')
  await chat.hasEnded('You said: Red')
  await survivesReload(chat)
})

test('the tree is walked, labelled and forked by keyboard alone', async ({ chat }) => {
  await chat.ask('Red', 'You said: Red')
  await chat.ask('Green', 'You said: Green')
  await chat.ask('Blue', 'You said: Blue')
  const { page, tree } = chat

  // To the tree by command, up to an older answer, and there.
  await chat.field.fill('/tree')
  await chat.field.press('Enter')
  await expect(tree.getByRole('tree')).toBeFocused()
  const current = tree.locator('[role=treeitem][aria-selected=true]')
  await expect(current).toContainText('You said: Blue')
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowDown')
  await expect(current).toHaveAttribute('data-kind', /entry|fold/)
  while ((await current.getAttribute('data-kind')) === 'fold') {
    const folded = await current.textContent()
    await page.keyboard.press('ArrowRight')
    await expect(current).not.toHaveText(folded ?? '')
  }
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowDown')
  await expect(current).toContainText('You said: Red')

  await page.keyboard.press('l')
  await expect(tree.getByRole('textbox', { name: 'Label' })).toBeFocused()
  await page.keyboard.type('the good one')
  await page.keyboard.press('Enter')
  await expect(current).toContainText('the good one')
  await expect(tree.getByRole('tree')).toBeFocused()

  await page.keyboard.press('Enter')
  await chat.hasEnded('You said: Red')
  await expect(chat.rows).toHaveCount(2)
  await expect(chat.rows.last()).toContainText('the good one')
  await page.keyboard.press('Escape')
  await expect(tree).toHaveCount(0)
  await expect(chat.field).toBeFocused()
  await survivesReload(chat)

  await chat.ask('Yellow', 'You said: Yellow')
  await expect(chat.rows).toHaveCount(4)
  await survivesReload(chat)

  const before = page.url()
  await chat.field.fill('/tree')
  await chat.field.press('Enter')
  await expect(tree.getByRole('tree')).toBeFocused()
  await page.keyboard.press('f')
  await page.waitForURL((url) => url.href !== before)
  await expect(chat.rows).toHaveCount(4)
  await chat.ask('In the fork', 'You said: In the fork')
  await page.goto(before)
  await expect(chat.rows).toHaveCount(4)
})

test('the tree is narrowed to what matters, and searched', async ({ chat, model, page }) => {
  model.next(call('ls', { path: '.' }))
  model.next(say('There is nothing here'))
  await chat.ask('Look around', 'There is nothing here')
  await chat.ask('Green', 'You said: Green')
  await page.locator('[data-region=transcript]').press('t')
  const items = chat.tree.getByRole('treeitem')
  const filter = (name: string) => chat.tree.getByRole('button', { name, exact: true }).press('Enter')
  const folds = chat.tree.locator('[role=treeitem][data-kind=fold]')
  // The panel draws when it can, so what is folded may come after the first look.
  const unfolded = (check: () => Promise<void>) =>
    expect(async () => {
      while (await folds.count()) await folds.first().click({ timeout: 1_000 })
      await check()
    }).toPass({ timeout: 10_000 })
  const soon = { timeout: 500 }
  await unfolded(() => expect(items.filter({ hasText: /ls|Read a folder|List/ })).not.toHaveCount(0, soon))
  await filter('No tools')
  await unfolded(() => expect(items).toHaveCount(4, soon))
  await filter('My messages')
  await unfolded(() => expect(items.filter({ hasText: 'Look around' })).toHaveCount(1, soon))
  await expect(items.filter({ hasText: 'nothing here' })).toHaveCount(0)
  await filter('All')
  const search = chat.tree.getByRole('searchbox')
  await search.fill('nothing')
  await expect(chat.tree.getByRole('status')).toHaveText(/1/)
  await search.press('Enter')
  await expect(chat.tree.locator('[role=treeitem][aria-selected=true]')).toContainText('nothing here')
  await search.press('Escape')
  await expect(chat.tree.getByRole('tree')).toBeFocused()
  await page.keyboard.press('Enter')
  await chat.hasEnded('There is nothing here')
})

test('a label is given, found by the filter and taken away', async ({ chat }) => {
  await chat.ask('Red', 'You said: Red')
  await chat.choose(chat.rows.first(), 'Add label')
  await chat.label('keep')
  await expect(chat.rows.first().getByRole('button', { name: 'keep' })).toBeVisible()
  await chat.reload()
  await expect(chat.rows.first().getByRole('button', { name: 'keep' })).toBeVisible()
  await chat.page.getByRole('button', { name: 'Session tree', exact: true }).click()
  await chat.tree.getByRole('button', { name: 'Labeled' }).click()
  // Beside it the leaf, which is always there: it is where one stands.
  await expect(chat.tree.getByRole('treeitem')).toHaveCount(2)
  await chat.rows.first().getByRole('button', { name: 'keep' }).click()
  await chat.label('')
  await expect(chat.tree.getByRole('treeitem')).toHaveCount(1)
})
