/** A context that grows full, and is compacted. */

import { Hold, hold, say } from '../support/model.ts'
import { expect } from '../support/test.ts'
import { ROW, type Stage } from './stage.ts'

export async function compaction({ chat, model, server, shots }: Stage): Promise<void> {
  model.billsByLength = true
  await server.useModel(model.address, 'small', 24_000)
  const long = 'The colour of the door is blue, and that of the gate is green. '.repeat(45)
  for (let turn = 1; turn <= 7; turn++) {
    model.next(say(`Answer ${turn}. ${long}`))
    await chat.ask(`Question ${turn}. ${long}`, `Answer ${turn}.`)
  }
  const address = `/s/${await chat.sessionId()}`
  await shots.take('meter-full', address, '.meter', (page) => page.locator('.meter').click())
  const point = new Hold()
  model.next(hold(point), say('Short.'))
  model.next(say('Short again.'))
  await chat.send('/compact mind the colours')
  await point.reached
  await shots.take('compaction-running', address, '[data-kind=compaction]')
  point.release()
  await expect(chat.page.locator('[data-kind=compaction]')).toContainText('failed')
  await chat.isIdle()
  await shots.take('compaction-failed', address, ROW)
  model.next(
    say(
      `## Goal\n\nFind out the **colours** of all parts of the house.\n\n## Done\n\n${'The door is blue and the gate is green; both were looked at twice. '.repeat(5)}`,
    ),
  )
  await chat.send('/compact mind the colours')
  await expect(chat.page.locator('[data-kind=compaction]').last()).toContainText('compacted')
  await shots.take('compaction-done', address, '[data-kind=compaction]')
  await shots.take('compaction-summary', address, '[data-kind=compaction]', async (page) => {
    await page.locator('[data-kind=compaction] button').first().click()
    await page.getByRole('dialog').locator('strong').waitFor()
  })
  await shots.take('compaction-divider', address, '[data-kind=compaction]', async (page) => {
    await page.locator('[data-region=transcript]').focus()
    await expect(async () => {
      await page.keyboard.press('Home')
      await expect(page.locator('[data-kind=folded]')).toBeVisible({ timeout: 500 })
    }).toPass()
  })
}
