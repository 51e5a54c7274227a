/** What a model gets and what it does not, and what can be done when one fails. */

import { fail } from '../support/model.ts'
import { Chat } from '../support/chat.ts'
import { Server } from '../support/server.ts'
import { expect, test } from '../support/test.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = { name: 'cat.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL, 'base64') }

interface Channel {
  id: string
  name: string
  models: { name: string; vision?: boolean; contextWindow?: number }[]
}

async function useModels(server: Server, models: Channel['models']): Promise<Channel> {
  const { items } = await server.api<{ items: Channel[] }>('GET', 'channels')
  const channel = items.find(({ name }) => name === 'fake')!
  await server.api('PUT', `channels/${channel.id}`, { ...channel, models })
  return channel
}

test('an image that will not reach the model is announced, and the alternatives work', async ({
  chat,
  model,
  page,
  server,
}) => {
  await useModels(server, [
    { name: 'fake', contextWindow: 128_000, vision: false },
    { name: 'openai/gpt-4.1-2025-04-14' },
  ])
  await chat.reload().catch(() => page.reload())
  const files = page.locator('[data-region=composer] input[type=file]')
  const warning = page.locator('.unseen')
  await expect(chat.field).toBeVisible()
  await files.setInputFiles(image)
  await expect(warning).toContainText('“fake” does not support images')
  await chat.field.fill('What is this?')
  await chat.field.press('Enter')
  await chat.hasEnded('You said')
  expect(JSON.stringify(model.requests.at(-1))).not.toContain(PIXEL)
  const message = chat.row('What is this?').first()
  await expect(message).toContainText('“fake” did not receive this image.')
  await chat.reload()
  await expect(message).toContainText('“fake” did not receive this image.')

  // A model that the catalog knows by another name sees it.
  await files.setInputFiles(image)
  await warning.getByRole('button', { name: 'Use openai/gpt-4.1-2025-04-14' }).click()
  await expect(warning).toHaveCount(0)
  await chat.field.fill('And now?')
  await chat.field.press('Enter')
  await chat.hasEnded('You said')
  expect(JSON.stringify(model.requests.at(-1))).toContain(PIXEL)
  await expect(chat.row('And now?').first()).not.toContainText('did not receive')
})

test('the images can be left out', async ({ chat, page, server }) => {
  await useModels(server, [{ name: 'fake', contextWindow: 128_000 }])
  await page.reload()
  await page.locator('[data-region=composer] input[type=file]').setInputFiles(image)
  await page.locator('.unseen').getByRole('button', { name: 'Remove the image' }).click()
  await expect(page.getByRole('list', { name: 'Attached files' })).toHaveCount(0)
  await chat.ask('Hello', 'You said: Hello')
})

test('a PDF says before and after sending that the model gets only its name, also if it is ASCII', async ({
  chat,
  model,
  page,
}) => {
  const source = '%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\n'
  await page
    .locator('[data-region=composer] input[type=file]')
    .setInputFiles({ name: 'report.pdf', mimeType: 'application/pdf', buffer: Buffer.from(source) })
  const chip = page.getByRole('list', { name: 'Attached files' }).getByRole('listitem')
  await expect(chip).toContainText('File only')
  await chat.field.fill('Summarize it')
  await chat.field.press('Enter')
  await chat.hasEnded('You said')
  const sent = JSON.stringify(model.requests.at(-1)!.messages)
  expect(sent).toContain('report.pdf')
  expect(sent).not.toContain('/Catalog')
  await expect(chat.row('Summarize it').first().locator('.file')).toContainText('File only')
})

test('an error has buttons that do what it advises', async ({ chat, model, page, server }) => {
  const channel = await useModels(server, [{ name: 'fake', contextWindow: 128_000 }, { name: 'other' }])
  await page.reload()
  model.next(fail(401, 'Incorrect API key provided'))
  await chat.send('Hello')
  const error = page.getByRole('alert').filter({ hasText: 'API key' })
  await error.getByRole('button', { name: 'Select another model' }).click()
  await page.getByRole('option', { name: 'other' }).click()
  await error.getByRole('button', { name: 'Retry' }).click()
  await chat.hasEnded('You said')
  expect(model.requests.at(-1)!.model).toBe('other')

  model.next(fail(401, 'Incorrect API key provided'))
  await chat.send('Again')
  await page.getByRole('button', { name: 'Open the channel' }).click()
  await expect(page).toHaveURL(new RegExp(`/channels/${channel.id}`))
})

test('a retry is one line that counts down', async ({ chat, model, page, watch }) => {
  void watch
  model.next(fail(429, 'Rate limit reached for requests per minute in organization org-x'))
  await chat.send('Hello')
  const line = page.locator('.run .retry')
  await expect(line).toContainText('The rate limit of the model supplier was exceeded.')
  await expect(line).toContainText(/Retrying (in \d+ s\.|now)/)
  await expect(page.locator('.run details code')).toContainText('organization org-x')
  await expect(page.locator('.run details')).not.toHaveAttribute('open')
  await chat.hasEnded('You said: Hello')
})

test('the directory of a session is named, and one that does not exist is refused', async ({
  chat,
  page,
  server,
  watch,
}) => {
  watch.allow(/status of 400/)
  await server.useAgent({ workspace: `${server.place}/project-x` })
  await chat.newSession()
  await chat.ask('Hello', 'You said: Hello')
  await expect(page.locator('header .workspace')).toHaveText('project-x')
  const { items } = await server.api<{ items: { id: string }[] }>('GET', 'agents')
  await page.goto(`${server.address}/agents/${items[0]!.id}`)
  await page.getByLabel('Workspace', { exact: true }).fill(`${server.place}/no/such`)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByText(`${server.place}/no/such" does not exist on the server`).first()).toBeVisible()
})

test('a session is named by the model of the agent, and a fork is marked', async ({ chat, model, page }) => {
  model.title = () => '"Greeting in the morning."'
  await chat.ask('Hello there', 'You said: Hello there')
  const list = page.locator('#sidebar, nav, aside').getByText('Greeting in the morning')
  await expect(list.first()).toBeVisible()
  await chat.choose(chat.rows.last(), 'Fork to a new session')
  await expect(page.locator('header .origin')).toBeVisible()
  await expect(page.locator('.session .fork').first()).toBeVisible()
})

test('a relay: models are known by name, and those that do not chat are left out', async ({ model, page }) => {
  model.models = ['text-embedding-3-small', 'whisper-1', 'openai/gpt-4.1', 'in-house-7', 'gpt-image-1']
  const server = new Server()
  try {
    await server.start()
    await page.goto(server.link)
    await page.getByRole('link', { name: 'Connect a model' }).click()
    for (const name of [
      '通义千问 (Qwen)',
      '火山方舟 (Volcengine Ark)',
      '智谱 (Zhipu GLM)',
      'Google Gemini',
      'OpenRouter',
    ])
      await expect(page.getByRole('radiogroup').getByText(name)).toBeVisible()
    // Also OpenAI may be behind a relay.
    await page.getByRole('radiogroup').getByText('OpenAI', { exact: true }).click()
    await page.getByText('Advanced').click()
    await page.getByLabel('Base URL').fill(model.address)
    await page.getByRole('textbox', { name: 'API key', exact: true }).fill('sk-of-a-relay')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByRole('button', { name: 'Save and start chatting' }).click()
    await expect(page).toHaveURL(/\/$/)
    const chat = new Chat(page)
    await expect(chat.field).toBeVisible()
    await page.getByRole('button', { name: /^Model:/ }).click()
    const options = page.getByRole('option')
    await expect(options.first()).toContainText('Default (openai/gpt-4.1)')
    await expect(options.last()).toContainText('demo')
    for (const name of ['embedding', 'whisper', 'image']) await expect(options.filter({ hasText: name })).toHaveCount(0)
    await page.keyboard.press('Escape')

    const { items } = await server.api<{ items: Channel[] }>('GET', 'channels')
    const relay = items.find(({ name }) => name === 'openai')!
    await page.goto(`${server.address}/channels/${relay.id}`)
    const row = page.locator('li.model').filter({ hasText: 'openai/gpt-4.1' })
    await expect(row).toContainText('1M context')
    await expect(row.locator('.ability')).not.toHaveCount(0)
    await page.getByLabel('Add a model by name').fill('whisper-1')
    await page.getByLabel('Add a model by name').press('Enter')
    await expect(page.locator('li.model').filter({ hasText: 'whisper-1' })).toContainText('not for chats')
  } finally {
    await server.remove()
  }
})
