/** Skills: found and told of, tried on their page, and run from a chat with every step to be seen. */

import { execFile } from 'node:child_process'
import type { Locator, Page } from '@playwright/test'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { call, words } from '../support/model.ts'
import { StepSkill } from '../support/skill.ts'
import { expect, test as base } from '../support/test.ts'

const test = base.extend<{ skill: StepSkill }>({
  skill: async ({ server }, use) => {
    const workspace = join(server.place, 'work')
    await server.useAgent({ workspace, approval: 'never' })
    const skill = new StepSkill(server.dataDir, workspace)
    await use(skill)
    skill.close()
  },
})

const SOON = { timeout: 3_000 }

/** Opens the last tool card, which is folded into a line once its run is over: that may be just now. */
async function openCard(page: Page): Promise<Locator> {
  const card = page.locator('.tool').last()
  const timeline = card.locator('.tool-process-timeline')
  await expect(async () => {
    const line = page.locator('.activity .line').last()
    if ((await line.getAttribute('aria-expanded', SOON).catch(() => null)) === 'false') await line.click(SOON)
    if (!(await timeline.isVisible())) await card.locator('.head').click(SOON)
    await expect(timeline).toBeVisible(SOON)
  }).toPass({ timeout: 40_000 })
  return card
}

async function openLog(page: Page): Promise<Locator> {
  const log = page.getByRole('dialog')
  await expect(async () => {
    if (await log.isVisible()) return
    await (await openCard(page)).getByRole('button', { name: 'Load full log' }).click(SOON)
    await expect(log).toBeVisible(SOON)
  }).toPass({ timeout: 60_000 })
  return log
}

test('the list tells of every skill, and can be narrowed', async ({ chat, page, server, skill }) => {
  expect([chat, skill]).toBeDefined()
  await page.goto(`${server.address}/skills`)
  const row = page.locator('.records li', { hasText: 'Stepper' })
  await expect(row).toContainText('Ready')
  await expect(row).toContainText('this server')
  await expect(row).toContainText('with program')
  await expect(page.locator('.records li', { hasText: 'built in' }).first()).toBeVisible()
  await page.getByRole('searchbox', { name: 'Search skills' }).fill('stage')
  await expect(page.locator('.records li')).toHaveCount(await page.locator('.records li', { hasText: 'stage' }).count())
  await page.getByRole('searchbox', { name: 'Search skills' }).fill('no such skill at all')
  await expect(page.getByText('No matching skills')).toBeVisible()
})

test('a skill is tried with a form from its schema, and watched', async ({ chat, page, server, skill }) => {
  expect(chat).toBeDefined()
  await page.goto(`${server.address}/skills/stepper`)
  await expect(page.getByRole('heading', { name: 'Stepper' }).first()).toBeVisible()
  await expect(page.locator('.body strong')).toHaveText('words')
  await expect(page.locator('.files')).toContainText('run.py')

  // What is missing is shown, and nothing starts.
  await page.getByRole('button', { name: 'Run' }).click()
  await expect(page.locator('.trial .error')).toHaveText(['Required.', 'Required.'])
  await page.getByLabel('Gates').fill(skill.gates)
  await page.getByLabel('Words').fill('hi')
  await expect(page.locator('.trial .error')).toHaveText(['Too short: at least 3 characters.'])
  await page.getByLabel('Words').fill('hello there')
  await expect(page.locator('.trial .error')).toHaveCount(0)
  await page.getByRole('button', { name: 'Run' }).click()

  const card = page.locator('.trial .tool')
  await expect(card).toHaveAttribute('data-status', 'running')
  skill.open('scan')
  await expect(card.locator('.tool-process-timeline')).toContainText('in scan')
  await expect(card.getByRole('progressbar')).toHaveAttribute('aria-valuenow', '30')
  skill.open('hash', 'report')
  await expect(card).toHaveAttribute('data-status', 'done')
  await expect(card).toContainText('hello there')
  await expect(card.getByRole('progressbar')).toHaveCount(0)

  await page.getByRole('link', { name: 'Open session' }).click()
  await page.waitForURL(/\/s\/./)
  await expect(page.locator('.tool, .activity').first()).toBeVisible()
})

test('who starts a skill on its page is not asked about it again', async ({ chat, page, server, skill }) => {
  await server.changeAgent({ approval: 'always' })
  skill.open('scan', 'hash', 'report')
  await page.goto(`${server.address}/skills/stepper`)
  await page.getByLabel('Gates').fill(skill.gates)
  await page.getByLabel('Words').fill('with consent')
  await page.getByRole('button', { name: 'Run' }).click()
  await expect(page.locator('.trial .tool')).toHaveAttribute('data-status', 'done')
  await expect(page.locator('.trial .tool')).toContainText('Allowed by: this exact call, for this session')
  await expect(chat.approvals).toHaveCount(0)
})

test('from a chat every stage shows, and a reload in the midst and at the end changes nothing', async ({
  chat,
  model,
  page,
  skill,
}) => {
  model.next(call('execute_skill', { name: 'stepper', input: { gates: skill.gates, words: 'one two' } }))
  model.next(...words('The steps are done.'))
  await chat.send('Go through it')
  const card = page.locator('.tool')
  const steps = card.locator('.tool-process-timeline li')
  skill.open('scan')
  await expect(card.locator('.progress')).toContainText('in scan')
  await card.locator('.head').click()
  await expect(steps.last()).toContainText('in scan')
  const midst = await steps.count()

  await chat.reload()
  await expect(card.locator('.progress')).toContainText('in scan')
  await card.locator('.head').click()
  await expect(steps).toHaveCount(midst)
  skill.open('hash')
  await expect(card.locator('.progress')).toContainText('in hash')
  await expect(card.getByRole('progressbar')).toHaveAttribute('aria-valuenow', '60')
  skill.open('report')
  await chat.hasEnded('The steps are done.')

  const shown = async () => {
    await openCard(page)
    return await steps.allInnerTexts()
  }
  const atEnd = await shown()
  expect(atEnd.join(' ')).toMatch(/in scan.*in hash.*in report/s)
  await chat.reload()
  expect(await shown()).toEqual(atEnd)

  const log = await openLog(page)
  for (const stage of ['scan', 'hash', 'report']) await expect(log).toContainText(`in ${stage}`)
  // What people are shown the model is not told.
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('in hash')
})

test('what was opened while it ran is the same card, and open, when the run is over', async ({
  chat,
  model,
  page,
  skill,
}) => {
  model.next(call('execute_skill', { name: 'stepper', input: { gates: skill.gates, words: 'one two' } }))
  model.next(...words('The steps are done.'))
  await chat.send('Go through it')
  const card = page.locator('.tool')
  skill.open('scan')
  await expect(card.locator('.progress')).toContainText('in scan')
  await card.locator('.head').click()
  const head = (await card.locator('.head').elementHandle())!
  skill.open('hash', 'report')
  await chat.hasEnded('The steps are done.')
  await expect(card).toHaveAttribute('data-status', 'done')
  // It stays as it was while the pointer is over it; then it collapses to its line.
  await expect(page.locator('.activity .line')).toHaveCount(0)
  await page.mouse.move(2, 2)
  await chat.field.focus()
  await expect(page.locator('.activity .line')).toHaveAttribute('aria-expanded', 'true')
  expect(await head.evaluate((head) => head.isConnected)).toBe(true)
  await expect(card.locator('.tool-process-timeline')).toContainText('in report')

  // Another turn, without the pointer over it, is one line.
  skill.open('scan', 'hash', 'report')
  model.next(call('execute_skill', { name: 'stepper', input: { gates: skill.gates, words: 'one two' } }))
  model.next(...words('Done again.'))
  await chat.ask('Once more', 'Done again.')
  await expect(page.locator('.activity .line').last()).toHaveAttribute('aria-expanded', 'false')
})

test('the full log follows a call under way', async ({ chat, model, page, skill }) => {
  model.next(call('execute_skill', { name: 'stepper', input: { gates: skill.gates, words: 'one two', repeat: 300 } }))
  model.next(...words('The steps are done.'))
  await chat.send('Go through it')
  skill.open('scan')
  await expect(page.locator('.tool .progress')).toContainText('in scan')
  const log = await openLog(page)
  await expect(log.locator('.step').last()).toContainText('in scan')
  skill.open('hash')
  await expect(log.locator('.step').last()).toContainText('in hash')
  // Who reads further up is left there.
  await log.getByRole('button', { name: 'Go to start' }).click()
  await expect(log.locator('.step').first()).toContainText('stepper')
  skill.open('report')
  await expect(log).toContainText(/90\d total/)
  await expect(log.locator('.step').first()).toContainText('stepper')
  await log.getByRole('button', { name: 'Go to end' }).click()
  await expect(log.locator('.step').last()).toContainText(/in report|Done/)
  await expect(log.locator('.nc-spin')).toHaveCount(0)
})

test('vehicle-damage-inspection: every stage live, the same after reloads, pictures, and the whole log', async ({
  chat,
  model,
  page,
  server,
  skill,
}) => {
  test.slow()
  const script = join(import.meta.dirname, '../../skills/vehicle-damage-inspection/scripts/sample_frames.py')
  await promisify(execFile)('python3', [script, join(server.place, 'work', 'car')])
  expect(skill).toBeDefined()
  model.next(
    call('execute_skill', {
      name: 'vehicle-damage-inspection',
      input: { source: 'car/after', reference: 'car/before' },
    }),
  )
  model.next(...words('The inspection is done.'))

  // Which stages the card shows on its way, also across a reload.
  const seen: string[] = []
  await page.exposeFunction('sawStage', (stage: string) => seen.at(-1) === stage || seen.push(stage))
  const watchStages = () =>
    new MutationObserver(() => {
      const stage = document.querySelector('.tool .progress .stage')?.textContent
      if (stage) (window as unknown as { sawStage: (stage: string) => void }).sawStage(stage)
    }).observe(document, { subtree: true, childList: true, characterData: true })
  await page.addInitScript(watchStages)
  await page.evaluate(watchStages)
  const card = page.locator('.tool')
  await chat.send('Look for damage')
  await expect(card.locator('.progress')).toBeVisible()
  await chat.reload()
  await expect(card.locator('.progress').or(chat.row('The inspection is done.'))).toBeVisible()
  await chat.hasEnded('The inspection is done.')

  const steps = card.locator('.tool-process-timeline li')
  const shown = async () => {
    await openCard(page)
    await expect(card.locator('img').first()).toBeVisible()
    return await steps.allInnerTexts()
  }
  const atEnd = await shown()
  await chat.reload()
  expect(await shown()).toEqual(atEnd)
  const natural = await card
    .locator('img')
    .first()
    .evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))
  expect(natural).toBeGreaterThan(10)

  // The log has every step, in order, and every stage that the card has shown.
  const log = await openLog(page)
  const id = await chat.sessionId()
  const result = (
    await server.api<{
      items: { message?: { details?: { processLogRef?: { operationId: string }; processEventCount?: number } } }[]
    }>('GET', `sessions/${id}/messages?view=full`)
  ).items
    .map((entry) => entry.message?.details)
    .find((details) => details?.processLogRef)
  const query = new URLSearchParams({
    sessionId: id,
    operationId: result!.processLogRef!.operationId,
    page: '1',
    size: '200',
  })
  const told = await server.api<{ items: { sequence: number; stage?: string }[]; total: number }>(
    'GET',
    `session/process_log?${query}`,
  )
  expect(told.items.map((step) => step.sequence)).toEqual(told.items.map((_, at) => at + 1))
  expect(told.total).toBe(result!.processEventCount)
  await expect(log).toContainText(`${told.total} total`)
  const stages = [...new Set(told.items.map((step) => step.stage).filter(Boolean))] as string[]
  expect(stages.length).toBeGreaterThanOrEqual(5)
  for (const stage of stages) expect(atEnd.join('\n')).toContain(stage)
  // It went from one to the next, and never back.
  expect(new Set(seen).size).toBeGreaterThan(1)
  expect(seen.map((stage) => stages.indexOf(stage))).toEqual(
    seen.map((stage) => stages.indexOf(stage)).toSorted((a, b) => a - b),
  )
})

test('a flood of steps is one line with a count, and its log has them all', async ({ chat, model, page, skill }) => {
  skill.open('scan', 'hash', 'report')
  model.next(call('execute_skill', { name: 'stepper', input: { gates: skill.gates, words: 'one two', repeat: 2000 } }))
  model.next(...words('The flood is over.'))
  await chat.ask('Flood it', 'The flood is over.')
  const log = await openLog(page)
  expect(await page.locator('.tool .tool-process-timeline li').count()).toBeLessThan(12)
  await expect(log).toContainText(/\d{4,} total/)
  await log.getByRole('button', { name: 'Go to end' }).click()
  await expect(log.locator('.step').last()).toContainText(/in report|Done/)
  expect(await log.locator('.step').count()).toBeLessThan(200)
})

test('a skill that fails says how, and one that is stopped as well', async ({ chat, model, page, skill }) => {
  skill.open('scan')
  model.next(call('execute_skill', { name: 'stepper', input: { gates: skill.gates, words: 'one two', fails: 'scan' } }))
  model.next(...words('It did not work.'))
  await chat.ask('Try it', 'It did not work.')
  const card = page.locator('.tool').first()
  await expect(card).toHaveAttribute('data-status', 'error')
  await card.locator('.head').click()
  await expect(card.locator('.tool-process-timeline')).toContainText(/Error\s*cannot scan/)
  await expect(card.locator('.tool-process-timeline li').last()).toContainText('Failed')

  model.next(call('execute_skill', { name: 'stepper', input: { gates: skill.gates, words: 'one two' } }))
  skill.open('scan')
  await chat.send('And again')
  const second = page.locator('.tool').last()
  await expect(second.locator('.progress')).toContainText('in scan')
  await chat.stopButton.click()
  await chat.isIdle()
  // What was stopped is folded with the other steps.
  await openCard(page)
  await expect(second).toHaveAttribute('data-status', 'stopped')
  await expect(second.locator('.status')).toHaveText('Stopped')
  await expect(second.locator('.tool-process-timeline li').last()).toContainText('Cancelled')
})

test('/skill completes names, and runs', async ({ chat, page, skill }) => {
  skill.open('scan', 'hash', 'report')
  await chat.field.pressSequentially('/ski')
  await chat.field.press('Enter')
  await expect(chat.field).toHaveValue('/skill ')
  await chat.field.pressSequentially('stepp')
  await expect(page.getByRole('option', { name: /stepper/ })).toBeVisible()
  await chat.field.press('Enter')
  await expect(chat.field).toHaveValue('/skill stepper ')
  await chat.field.pressSequentially(JSON.stringify({ gates: skill.gates, words: 'by hand' }))
  await chat.field.press('Enter')
  // Its card is folded when the answer is there.
  await expect(page.locator('.activity .line')).toBeVisible()
  await chat.isIdle()
  const card = await openCard(page)
  await expect(card).toHaveAttribute('data-status', 'done')
  await expect(card).toContainText('by hand')
})
