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

test('/compact with a focus: the summary, what it folded, the same after a reload, and back', async ({
  chat,
  model,
  page,
}) => {
  const point = new Hold()
  model.next(hold(point), say(SUMMARY))
  await chat.send('/compact mind the colours')
  await point.reached
  await expect(compactions(chat)).toContainText('Compacting')
  await expect(compactions(chat)).toContainText('part 1 of 1')
  // Who comes later sees how far it is.
  const second = await chat.second()
  await expect(compactions(second)).toContainText('part 1 of 1')
  await second.page.close()
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
  await page.getByRole('button', { name: 'Show full history' }).click()
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
  await expect(page.getByRole('button', { name: 'Show full history' })).toHaveCount(0)
  await expect(folded(chat)).toHaveCount(0)
  await goTo(chat, 'Home', chat.row('Question 1.').first())
})

test('a summary that is none says so, also after a reload, until it is dismissed; the next try works', async ({
  chat,
  model,
}) => {
  // One that is too short is asked for once more.
  const failing = () => {
    model.next(say('Short.'))
    model.next(say('Short again.'))
  }
  failing()
  await chat.send('/compact')
  await expect(compactions(chat)).toContainText('Compaction failed.')
  await expect(folded(chat)).toHaveCount(0)
  const said = await compactions(chat).innerText()
  await chat.reload()
  await expect(compactions(chat)).toContainText('Compaction failed.')
  expect(await compactions(chat).innerText()).toBe(said)
  const second = await chat.second()
  await compactions(second).getByRole('button', { name: 'Dismiss' }).click()
  await expect(compactions(second)).toHaveCount(0)
  await expect(compactions(chat)).toHaveCount(0)
  await second.page.close()
  await chat.reload()
  await expect(chat.row('Answer 7.').first()).toBeVisible()
  await expect(compactions(chat)).toHaveCount(0)

  failing()
  await chat.send('/compact')
  await expect(compactions(chat)).toContainText('Compaction failed.')
  model.next(say(SUMMARY))
  await compactions(chat).getByRole('button', { name: 'Retry', exact: true }).click()
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
  // What was paid for, and the same after a reload.
  await expect(panel.locator('[data-spent=branch]')).toContainText('× 7')
  await expect(panel.locator('[data-spent=lastAnswer]')).toContainText(told.usedTokens.toLocaleString('en'))
  await expect(panel.locator('[data-spent=summaries]')).toHaveCount(0)
  const spent = await panel.locator('.spent').innerText()
  await chat.reload()
  await meter.hover()
  await expect(panel.locator('.spent')).toHaveText(spent, { useInnerText: true })
  // Read for themselves, the numbers close when the pointer leaves.
  await page.mouse.move(5, 5)
  await expect(panel).toHaveCount(0)
  await meter.click()
  model.next(say(SUMMARY))
  await panel.getByRole('button', { name: 'Compact now' }).click()
  await expect(compactions(chat)).toContainText('older messages compacted')
  await chat.isIdle()
  await meter.click()
  await expect(panel.locator('[data-spent=summaries]')).toContainText('× 1')
  await expect(panel.locator('[data-spent=session]')).toContainText('× 7')
})

test('the meter is what was billed: after each answer, a reload, and on another branch', async ({
  chat,
  model,
  page,
}) => {
  const meter = page.locator('.meter')
  const shows = async (billed: number) => {
    await meter.hover()
    const panel = page.getByRole('dialog', { name: 'Context used' })
    await expect(panel).toContainText(`${billed.toLocaleString('en')} / ${(24_000).toLocaleString('en')}`)
    await page.mouse.move(5, 5)
    await expect(panel).toHaveCount(0)
  }
  await chat.isIdle()
  await shows(model.billed.at(-1)!)
  model.next(say(`The long way. ${LONG}`))
  await chat.ask('Which way?', 'The long way.')
  await chat.isIdle()
  const long = model.billed.at(-1)!
  await shows(long)
  model.next(say('The short way.'))
  await chat.act(chat.rows.last(), 'Regenerate')
  await expect(chat.rows.last()).toContainText('The short way.')
  await chat.isIdle()
  const short = model.billed.at(-1)!
  expect(short).toBeLessThan(long)
  await shows(short)
  await chat.reload()
  await shows(short)
  await chat.act(chat.rows.last(), 'Previous version')
  await expect(chat.rows.last()).toContainText('The long way.')
  await shows(long)
  await chat.reload()
  await shows(long)
})

test('a branch is left with a summary by keyboard; a stop or a failure moves nothing', async ({
  chat,
  model,
  page,
}) => {
  const summaries = page.locator('[data-row][data-kind=branchSummary]')
  const item = chat.tree.locator('[role=treeitem][aria-selected=true]')
  await chat.send('/tree')
  await expect(chat.tree.getByRole('tree')).toBeFocused()
  await page.keyboard.press('Home')
  await expect(item).toContainText('Question 1.')

  const point = new Hold()
  model.next(hold(point), say(SUMMARY))
  await page.keyboard.press('s')
  await point.reached
  await expect(compactions(chat)).toContainText('Summarizing the current branch')
  await expect(compactions(chat)).toContainText('part 1 of 1')
  await chat.stopButton.click()
  await chat.isIdle()
  point.release()
  await expect(chat.row('Answer 7.').first()).toBeVisible()

  model.next(say('Short.'))
  model.next(say('Short again.'))
  await chat.tree.getByRole('tree').focus()
  await page.keyboard.press('s')
  await expect(compactions(chat)).toContainText('The branch was not switched.')
  await chat.isIdle()
  await expect(chat.row('Answer 7.').first()).toBeVisible()

  model.next(say(SUMMARY))
  await chat.tree.getByRole('tree').focus()
  await page.keyboard.press('s')
  await expect(summaries).toBeVisible()
  await chat.isIdle()
  await expect(compactions(chat)).toHaveCount(0)
  await expect(chat.row('Answer 7.')).toHaveCount(0)
  await expect(chat.row('Question 1.').first()).toBeVisible()
  await chat.reload()
  await expect(summaries).toBeVisible()
  await expect(chat.row('Answer 7.')).toHaveCount(0)
  // What happened there is known here.
  model.next(say('Both are known.'))
  await chat.ask('Which colours?', 'Both are known.')
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('both were looked at twice')
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
