/** A long conversation is folded into a summary, which can be read, looked behind and undone. */

import type { Locator } from '@playwright/test'
import type { Chat } from '../support/chat.ts'
import { Hold, hold, say, type FakeModel } from '../support/model.ts'
import { expect, test } from '../support/test.ts'

/** About 700 tokens. */
const LONG = 'The colour of the door is blue, and that of the gate is green. '.repeat(45)
const SUMMARY = `## Goal\n\nFind out the **colours** of all parts of the house.\n\n## Done\n\n${'The door is blue and the gate is green; both were looked at twice. '.repeat(5)}`

/** So many turns, each with its number. */
async function talk(chat: Chat, model: FakeModel, turns: number): Promise<void> {
  for (let turn = 1; turn <= turns; turn++) {
    model.next(say(`Answer ${turn}. ${LONG}`))
    await chat.ask(`Question ${turn}. ${LONG}`, `Answer ${turn}.`)
  }
}

test.beforeEach(async ({ chat, model, server }) => {
  // A window in which a few turns are much, and not yet too much.
  model.billsByLength = true
  await server.useModel(model.address, 'small', 24_000)
  await talk(chat, model, 7)
})

const compactions = (chat: Chat) => chat.page.locator('[data-row][data-kind=compaction]')
/** Goes to the beginning or the end as a reader would, until this is there: rows are measured on the way. */
async function goTo(chat: Chat, key: 'Home' | 'End', what: Locator): Promise<void> {
  await chat.page.locator('[data-region=transcript]').focus()
  await expect(async () => {
    await chat.page.keyboard.press(key)
    await expect(what).toBeVisible({ timeout: 500 })
  }).toPass()
}

const folded = (chat: Chat) => chat.page.locator('[data-row][data-kind=folded]')

test('/compact with a focus: the summary, what it folded, the same after a reload, and back', async ({ chat, model, page }) => {
  const point = new Hold()
  model.next(hold(point), say(SUMMARY))
  await chat.send('/compact mind the colours')
  await point.reached
  await expect(compactions(chat)).toContainText('Compacting')
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('mind the colours')
  point.release()
  await expect(compactions(chat)).toContainText(/\d+ older messages compacted/)
  await expect(compactions(chat)).toContainText(/[\d.]+k? → [\d.]+k? tokens/)
  await chat.isIdle()

  const said = await compactions(chat).innerText()

  // What was folded is behind a line.
  await goTo(chat, 'Home', folded(chat))
  await expect(chat.row('Question 1.')).toHaveCount(0)
  await goTo(chat, 'End', compactions(chat))
  await compactions(chat).getByRole('button', { name: 'View summary' }).click()
  const drawer = page.getByRole('dialog')
  await expect(drawer.locator('strong')).toContainText('colours')
  await expect(drawer).toContainText('mind the colours')
  await drawer.getByRole('button', { name: 'Close' }).click()

  await chat.reload()
  expect(await compactions(chat).innerText()).toBe(said)

  // The whole history, by the header and by the line.
  await page.getByRole('button', { name: 'Show the full history' }).click()
  await goTo(chat, 'Home', chat.row('Question 1.').first())
  await expect(chat.row('Question 1.').first()).toHaveAttribute('data-folded', 'true')
  await page.getByRole('button', { name: 'Show what the model sees' }).click()
  await goTo(chat, 'Home', folded(chat))
  await expect(chat.row('Question 1.')).toHaveCount(0)
  await folded(chat).getByRole('button', { name: 'Show' }).click()
  await goTo(chat, 'Home', chat.row('Question 1.').first())
  await page.getByRole('button', { name: 'Show what the model sees' }).click()

  // The model reads the summary and not what it stands for.
  model.next(say('It is blue.'))
  await chat.ask('Which colour is the door?', 'It is blue.')
  const told = JSON.stringify(model.requests.at(-1)?.messages)
  expect(told).toContain('both were looked at twice')
  // What was asked for first is kept in mind; the rest is not repeated.
  expect(told).not.toContain('Answer 1.')
  expect(told).not.toContain('Question 2.')

  await compactions(chat).getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('button', { name: 'Show the full history' })).toHaveCount(0)
  await expect(folded(chat)).toHaveCount(0)
  await goTo(chat, 'Home', chat.row('Question 1.').first())
})

test('a summary that is none says so, and the next try works', async ({ chat, model }) => {
  // One that is too short is asked for once more.
  model.next(say('Short.'))
  model.next(say('Short again.'))
  await chat.send('/compact')
  await expect(compactions(chat)).toContainText('Compaction failed.')
  await expect(folded(chat)).toHaveCount(0)
  model.next(say(SUMMARY))
  await compactions(chat).getByRole('button', { name: 'Try again' }).click()
  await expect(compactions(chat)).toContainText('older messages compacted')
})

test('the meter tells what fills the context, and compacts', async ({ chat, model, page, server }) => {
  const meter = page.locator('.meter')
  await expect(meter).toContainText(/\d+%/)
  await meter.hover()
  const panel = page.getByRole('dialog', { name: 'Context used' })
  await expect(panel.locator('.parts')).toContainText('Messages')
  const id = await chat.sessionId()
  const told = await server.api<{ usedTokens: number; maxTokens: number }>('GET', `sessions/${id}/context`)
  await expect(panel).toContainText(`${told.usedTokens.toLocaleString('en')} / ${told.maxTokens.toLocaleString('en')}`)
  // Read for themselves, the numbers close when the pointer leaves.
  await page.mouse.move(5, 5)
  await expect(panel).toHaveCount(0)
  await meter.click()
  model.next(say(SUMMARY))
  await panel.getByRole('button', { name: 'Compact now' }).click()
  await expect(compactions(chat)).toContainText('older messages compacted')
})

test('a compaction can be stopped, and nothing has changed', async ({ chat, model }) => {
  const point = new Hold()
  model.next(hold(point), say(SUMMARY))
  await chat.send('/compact')
  await point.reached
  await expect(compactions(chat)).toContainText('Compacting')
  await chat.stopButton.click()
  await chat.isIdle()
  await expect(compactions(chat).getByText('Compacting')).toHaveCount(0)
  await expect(folded(chat)).toHaveCount(0)
  point.release()
})
