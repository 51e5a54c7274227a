/** The keys of the chat page: each does what the help says, and letters in a field stay letters. */

import { Hold, hold, say, words } from '../support/model.ts'
import { expect, test } from '../support/test.ts'

test('F6 leads from part to part, there and back, past what is not shown', async ({ chat, page }) => {
  await chat.ask('About apples', 'About apples')
  const transcript = page.locator('[data-region=transcript]')
  await transcript.press('t')
  const tree = chat.tree.getByRole('tree')
  await expect(tree).toBeFocused()
  const search = page.locator('#session-search')
  for (const next of [search, transcript, chat.field, tree]) {
    await page.keyboard.press('F6')
    await expect(next).toBeFocused()
  }
  await page.keyboard.press('Shift+F6')
  await expect(chat.field).toBeFocused()
  await page.setViewportSize({ width: 390, height: 844 })
  // On a phone the tree is all there is, and then the conversation is.
  await expect(tree).toBeVisible()
  await tree.focus()
  await page.keyboard.press('F6')
  await expect(tree).toBeFocused()
  await page.keyboard.press('Escape')
  for (const next of [transcript, chat.field]) {
    await page.keyboard.press('F6')
    await expect(next).toBeFocused()
  }
})

test('Alt with the arrows goes from message to message of the user', async ({ chat, model, page }) => {
  for (const name of ['apples', 'pears', 'plums']) {
    model.next(say(`All about ${name}. ${'It is a fruit. '.repeat(200)}`))
    await chat.ask(`Tell me about ${name}`, `All about ${name}`)
  }
  const message = (name: string) => page.locator('[data-row][data-kind=user]').filter({ hasText: name })
  await chat.field.press('Alt+ArrowUp')
  await expect(message('plums')).toBeFocused()
  await page.keyboard.press('Alt+ArrowUp')
  await expect(message('pears')).toBeFocused()
  await page.keyboard.press('Alt+ArrowDown')
  await expect(message('plums')).toBeFocused()
  await expect(message('plums')).toBeInViewport()
})

test('Ctrl with K, a full stop and F; and the keys without Ctrl', async ({ chat, model, page }) => {
  const point = new Hold()
  model.next(...words('one two'), hold(point), say(' never said'))
  await chat.send('Count')
  await expect(chat.rows.last()).toContainText('two')
  await chat.field.press('Control+k')
  await expect(page.locator('#session-search')).toBeFocused()
  await page.keyboard.press('Control+.')
  await chat.isIdle()
  point.release()

  const transcript = page.locator('[data-region=transcript]')
  await transcript.press('/')
  await expect(chat.field).toBeFocused()
  await expect(chat.field).toHaveValue('')
  await page.keyboard.type('t?1')
  await expect(chat.field).toHaveValue('t?1')
  await expect(chat.tree).toHaveCount(0)
  await transcript.press('?')
  const help = page.getByRole('dialog')
  for (const key of ['Ctrl', 'K', 'F6', 'Alt', 'Esc', 'T'])
    await expect(help.locator('kbd').getByText(key, { exact: true }).first()).toBeVisible()
  // Behind a dialog no key is heard.
  await page.keyboard.press('t')
  await page.keyboard.press('Escape')
  await expect(help).toHaveCount(0)
  await expect(chat.tree).toHaveCount(0)
  await expect(chat.field).toHaveValue('t?1')
})
