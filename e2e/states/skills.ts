/** Skills at work, with their steps, pictures and logs. */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { call, words } from '../support/model.ts'
import { StepSkill } from '../support/skill.ts'
import { expect } from '../support/test.ts'
import type { Prepare, Stage } from './stage.ts'

export async function skillsAtWork({ chat, model, server, shots }: Stage): Promise<void> {
  const { page } = chat
  const work = join(server.place, 'work')
  await server.useAgent({ workspace: work, approval: 'never' })
  const skill = new StepSkill(server.dataDir, work)
  model.next(call('execute_skill', { name: 'stepper', input: { gates: skill.gates, words: 'one two', repeat: 30 } }))
  model.next(...words('The steps are done.'))
  await chat.send('Go through it')
  skill.open('scan')
  await expect(page.locator('.tool .progress')).toContainText('in scan')
  const address = `/s/${await chat.sessionId()}`
  await shots.take('skill-running', address, '.tool .progress')
  await shots.take('skill-running-open', address, '.tool .progress', (page) => page.locator('.tool .head').click())
  skill.open('hash', 'report')
  await chat.hasEnded('The steps are done.')
  const script = join(import.meta.dirname, '../../skills/vehicle-damage-inspection/scripts/sample_frames.py')
  await promisify(execFile)('python3', [script, join(work, 'car')])
  await chat.newSession()
  model.next(
    call('execute_skill', {
      name: 'vehicle-damage-inspection',
      input: { source: 'car/after', reference: 'car/before' },
    }),
  )
  model.next(...words('The inspection is done.'))
  await chat.ask('Look for damage', 'The inspection is done.')
  const inspection = `/s/${await chat.sessionId()}`
  const openCard: Prepare = async (page) => {
    await page.locator('.activity .line').click()
    await page.locator('.tool .head').click()
    await page.locator('.tool img').first().waitFor()
  }
  await shots.take('vehicle', inspection, '.activity .line', async (page) => {
    await openCard(page)
    await page.locator('.tool .head').evaluate((head) => head.scrollIntoView())
  })
  await shots.take('vehicle-pictures', inspection, '.activity .line', async (page) => {
    await openCard(page)
    await page
      .locator('.tool img')
      .first()
      .evaluate((image: HTMLImageElement) => image.decode().then(() => image.scrollIntoView({ block: 'center' })))
  })
  await shots.take('vehicle-picture', inspection, '.activity .line', async (page) => {
    await openCard(page)
    await page.locator('.tool img').first().click()
    await page.getByRole('dialog').waitFor()
  })
  await shots.take('vehicle-log', inspection, '.activity .line', async (page) => {
    await openCard(page)
    await page
      .locator('.tool')
      .getByRole('button', { name: /full log|完整日志/ })
      .click()
    await page.getByRole('dialog').locator('.step').first().waitFor()
  })
  await shots.take('skill-trial-wrong', '/skills/stepper', '.trial form', async (page) => {
    await page.locator('.trial form button[type=submit]').click()
    await page.locator('.trial .error').first().scrollIntoViewIfNeeded()
  })
  skill.close()
}
