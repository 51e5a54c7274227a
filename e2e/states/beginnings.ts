/** Users who are not logged in, and the first minutes with a new server. */

import { TOKEN } from '../support/server.ts'
import { expect } from '../support/test.ts'
import type { Stage } from './stage.ts'

export async function beginnings({ server, shots }: Pick<Stage, 'server' | 'shots'>): Promise<void> {
  await shots.take('login-wrong', '/login', 'form input', async (page) => {
    await page.locator('form input').fill('wrong')
    await page.locator('form button[type=submit]').click()
    await page.locator('[role=alert]').filter({ hasText: /\S/ }).waitFor()
  })
  await shots.take('first-run', `/?token=${TOKEN}`, '[data-region=composer] textarea')
  await shots.take('demo-answer', `/?token=${TOKEN}`, '.tries button', async (page) => {
    await page.locator('.tries button').first().click()
    await expect(page.locator('[data-kind=stop]')).toHaveCount(0)
    await page.locator('[data-kind=assistant]').first().waitFor()
  })
  await shots.take('welcome-chosen', `/?token=${TOKEN}`, '[data-region=composer] textarea', async (page) => {
    await page.goto(`${server.address}/welcome`)
    await page.getByRole('radiogroup').locator('label').last().click()
  })
  await server.api('POST', 'users', {
    name: 'ann',
    label: 'Ann 安',
    role: 'user',
    status: 'enabled',
    password: 'correct horse',
  })
  await shots.take('account-password', '/login', 'form input', async (page) => {
    await page.locator('.ways button').last().click()
    await page.locator('form input[name=username]').fill('ann')
    await page.locator('form input[name=password]').fill('correct horse')
    await page.locator('form button[type=submit]').click()
    await page.locator('[data-region=composer] textarea').waitFor()
    await page.goto(`${server.address}/settings/account`)
    await page.locator('main form input[type=password]').first().fill('correct horse')
    await page.locator('main form button[type=submit]').click()
    await page.locator('.field[data-wrong]').first().waitFor()
  })
}
