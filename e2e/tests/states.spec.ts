/** What the page says has happened is what has happened, in words that are the same after a reload. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from '@playwright/test'
import type { Chat } from '../support/chat.ts'
import { call, fail, Hold, hold, say, think, words } from '../support/model.ts'
import type { Server } from '../support/server.ts'
import { expect, test } from '../support/test.ts'

const cards = (chat: Chat): Locator => chat.page.locator('section.tool')
const status = (chat: Chat): Locator => cards(chat).first().locator('.status')
const run = (chat: Chat): Locator => chat.page.getByLabel('Run status')
const used = (chat: Chat): Locator => chat.page.locator('.activity .line')
const meter = (chat: Chat): Locator => chat.page.locator('.meter')

/** An agent that works in a directory of its own. */
async function works(server: Server, approval: 'never' | 'always'): Promise<void> {
  await server.useAgent({ workspace: join(server.place, 'work'), approval })
}

/** Looks, reloads and looks again. */
async function twice(chat: Chat, look: () => Promise<void>): Promise<void> {
  await look()
  await chat.reload()
  await look()
}

const COMMAND = call('bash', { command: 'echo begun; sleep 600' })

test('stopped while it waits for approval: it was not used, and it never ran', async ({ chat, model, server }) => {
  await works(server, 'always')
  model.next(call('bash', { command: 'echo never' }))
  await chat.send('Run it')
  await expect(chat.approvals).toBeVisible()
  await expect(status(chat)).toHaveText('Waiting for approval')
  await expect(run(chat)).toContainText('Waiting for you')
  await chat.stopButton.click()
  await chat.isIdle()
  await twice(chat, async () => {
    await expect(status(chat)).toHaveText('Not run: no approval')
    await expect(chat.rows.last()).toContainText('Stopped.')
    await expect(used(chat)).toHaveCount(0)
  })
})

test('denied is denied', async ({ chat, model, server }) => {
  await works(server, 'always')
  model.next(call('bash', { command: 'echo never' }))
  model.next(...words('As you wish.'))
  await chat.send('Run it')
  await chat.approvals.getByRole('button', { name: 'Deny', exact: true }).click()
  await chat.page.keyboard.press('Enter')
  await chat.hasEnded('As you wish.')
  await twice(chat, async () => {
    await expect(status(chat)).toHaveText('Denied')
    await expect(used(chat)).toHaveCount(0)
  })
})

test('stopped while a tool runs', async ({ chat, model, server }) => {
  await works(server, 'never')
  model.next(COMMAND)
  await chat.send('Run it')
  await expect(cards(chat)).toContainText('begun')
  await chat.stopButton.click()
  await chat.isIdle()
  await twice(chat, async () => {
    await expect(status(chat)).toHaveText('Stopped')
    await expect(chat.rows.last()).toContainText('Stopped.')
  })
})

test('killed while a tool runs: interrupted, and not stopped by a user', async ({ chat, model, server, watch }) => {
  watch.allowNetworkFailures()
  await works(server, 'never')
  model.next(COMMAND)
  await chat.send('Run it')
  await expect(cards(chat)).toContainText('begun')
  await server.kill()
  await expect(status(chat)).toHaveText('Status unknown')
  await expect(run(chat)).toContainText('Disconnected; run status unknown')
  await server.start()
  await twice(chat, async () => {
    await expect(status(chat)).toHaveText('Interrupted')
    await expect(chat.rows.last()).toContainText('Interrupted: the server stopped')
    await expect(chat.page.getByText('Stopped.', { exact: true })).toHaveCount(0)
  })
})

test('killed while a call waits for approval: it goes on waiting, and runs when it is allowed', async ({
  chat,
  model,
  server,
  watch,
}) => {
  watch.allowNetworkFailures()
  await works(server, 'always')
  model.next(call('bash', { command: 'echo allowed' }))
  model.next(...words('It has run.'))
  await chat.send('Run it')
  await expect(chat.approvals).toBeVisible()
  await server.kill()
  await expect(run(chat)).toContainText('Disconnected; run status unknown')
  await expect(status(chat)).toHaveText('Waiting for approval')
  await server.start()
  await expect(chat.pill).toHaveCount(0)
  await twice(chat, async () => {
    await expect(status(chat)).toHaveText('Waiting for approval')
    await expect(chat.approvals).toContainText('echo allowed')
    await expect(chat.page.getByText(/^(Stopped\.|Interrupted)/)).toHaveCount(0)
  })
  await chat.approvals.getByRole('button', { name: 'Allow once' }).click()
  await chat.hasEnded('It has run.')
  await twice(chat, async () => {
    await expect(used(chat)).toContainText('Used 1 tool')
    await expect(chat.page.getByText(/^(Stopped\.|Interrupted)/)).toHaveCount(0)
  })
})

test('offline while a call waits for approval: it waits, and nothing else is claimed', async ({
  chat,
  model,
  server,
  watch,
}) => {
  watch.allowNetworkFailures()
  await works(server, 'always')
  model.next(call('bash', { command: 'echo allowed' }))
  model.next(...words('It has run.'))
  await chat.send('Run it')
  await expect(chat.approvals).toBeVisible()
  await chat.page.context().setOffline(true)
  await expect(run(chat)).toContainText('Disconnected; run status unknown')
  await expect(status(chat)).toHaveText('Waiting for approval')
  // A decision that cannot be sent says so, and the card stays.
  await chat.approvals.getByRole('button', { name: 'Allow once' }).click()
  await expect(chat.approvals.getByRole('alert')).toContainText('Not connected')
  await expect(status(chat)).toHaveText('Waiting for approval')
  await chat.page.context().setOffline(false)
  await expect(chat.pill).toHaveCount(0)
  await expect(run(chat)).toContainText('Waiting for you')
  await chat.approvals.getByRole('button', { name: 'Allow once' }).click()
  await chat.hasEnded('It has run.')
})

test('allowed late: the time of a call leaves out the wait for a person', async ({ chat, model, server }) => {
  await works(server, 'always')
  model.next(call('bash', { command: 'echo allowed' }))
  model.next(...words('It has run.'))
  await chat.send('Run it')
  await expect(chat.approvals).toBeVisible()
  const asked = Date.now()
  for (let times = 0; times < 3; times++) {
    await chat.reload()
    await expect(chat.approvals).toBeVisible()
  }
  const waited = Date.now() - asked
  await chat.approvals.getByRole('button', { name: 'Allow once' }).click()
  await chat.hasEnded('It has run.')
  await twice(chat, async () => {
    if ((await used(chat).getAttribute('aria-expanded')) === 'false') await used(chat).click()
    for (const time of [cards(chat).locator('.time'), used(chat).locator('.time')]) {
      const [, count, unit] = /^([\d.]+) (ms|s)$/.exec(await time.innerText()) ?? []
      expect(Number(count) * (unit === 's' ? 1000 : 1), await time.innerText()).toBeLessThan(waited)
    }
  })
})

test('stopped while a question is open: the question is stopped, and so is the run', async ({ chat, model }) => {
  model.next(call('clarify', { question: 'Which colour?', options: ['red', 'blue'] }))
  await chat.send('Paint it')
  await expect(status(chat)).toHaveText('Waiting for your answer')
  await expect(run(chat)).toContainText('Waiting for you')
  await chat.stopButton.click()
  await chat.isIdle()
  await twice(chat, async () => {
    await expect(status(chat)).toHaveText('Stopped')
    await expect(chat.rows.last()).toContainText('Stopped.')
    await expect(used(chat)).toHaveCount(0)
  })
})

for (const [how, said] of [
  ['stopped', 'Stopped.'],
  ['killed', 'Interrupted: the server stopped'],
] as const)
  test(`${how} between two answers: the call is done, and the run is not`, async ({ chat, model, server, watch }) => {
    watch.allowNetworkFailures()
    await works(server, 'never')
    const point = new Hold()
    model.next(call('bash', { command: 'echo done' }))
    model.next(hold(point), say('Never said.'))
    await chat.send('Run it')
    await point.reached
    await expect(run(chat)).toContainText('Waiting for the model')
    if (how === 'stopped') {
      await chat.stopButton.click()
      await chat.isIdle()
    } else {
      await server.kill()
      await expect(run(chat)).toContainText('Disconnected; run status unknown')
      await server.start()
    }
    await twice(chat, async () => {
      await expect(chat.rows.last()).toContainText(said)
      await expect(used(chat)).toContainText('Used 1 tool')
      await expect(chat.page.getByText(how === 'stopped' ? /^Interrupted/ : /^Stopped\./)).toHaveCount(0)
    })
    point.release()
    await expect(chat.rows.last()).not.toContainText('Never said.')
  })

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  test(`ended by ${signal} in the middle of an answer: interrupted`, async ({ chat, model, server, watch }) => {
    watch.allowNetworkFailures()
    const point = new Hold()
    model.next(...words('one two three'), hold(point))
    await chat.send('Count')
    await expect(chat.rows.last()).toContainText('three')
    await server.kill(signal)
    point.release()
    await server.start()
    await twice(chat, async () => {
      await expect(chat.rows.last()).toContainText('Interrupted: the server stopped')
      await expect(chat.rows.last()).not.toContainText('Stopped.')
    })
  })

test('a question without an answer in time has expired', async ({ chat, model, server }) => {
  await server.api('PUT', 'settings/clarify.timeoutMs', { value: 2000 })
  model.next(call('clarify', { question: 'Which colour?', options: ['red', 'blue'] }))
  model.next(...words('I chose myself.'))
  await chat.send('Paint it')
  await expect(status(chat)).toHaveText('Waiting for your answer')
  await chat.hasEnded('I chose myself.')
  await twice(chat, () => expect(status(chat)).toHaveText('Expired'))
})

test('a skill that takes too long has timed out', async ({ chat, model, server }) => {
  await works(server, 'never')
  const skill = join(server.dataDir, 'skills', 'slow')
  mkdirSync(skill, { recursive: true })
  writeFileSync(
    join(skill, 'SKILL.md'),
    '---\nname: slow\ndescription: Never ends, for tests.\nmetadata:\n  entry: run.sh\n  timeoutSeconds: 1\n---\n\n# Slow\n',
  )
  writeFileSync(join(skill, 'run.sh'), 'exec sleep 600\n', { mode: 0o755 })
  model.next(call('execute_skill', { name: 'slow', input: {} }))
  model.next(...words('It did not end.'))
  await chat.send('Be slow')
  await chat.hasEnded('It did not end.')
  await twice(chat, async () => {
    await expect(status(chat)).toHaveText('Timed out')
    // The last step stays on the card.
    await expect(cards(chat).first()).toContainText('Execution timed out after 1000 ms')
  })
})

test('the meter keeps its reading after a stop and after an error', async ({ chat, model, watch }) => {
  watch.allowNetworkFailures()
  await chat.ask('Hello', 'You said: Hello')
  /** The model always counts 120. */
  const reading = async () => Number(/(\d+)\/128k/.exec(await meter(chat).innerText())?.[1])
  expect(await reading()).toBe(120)
  const point = new Hold()
  model.next(...words('one two'), hold(point))
  await chat.send('Count')
  await expect(chat.rows.last()).toContainText('two')
  await chat.stopButton.click()
  await chat.isIdle()
  point.release()
  expect(await reading()).toBeGreaterThanOrEqual(120)
  model.next(fail(401, 'no such key'))
  await chat.send('Again')
  await expect(chat.rows.last()).toContainText('key')
  await chat.isIdle()
  expect(await reading()).toBeGreaterThanOrEqual(120)
})

test('the picker shows the model in use before the first answer and after an early failure', async ({
  chat,
  model,
  watch,
}) => {
  watch.allowNetworkFailures()
  const picker = chat.page.getByRole('button', { name: 'Model: fake' })
  const point = new Hold()
  model.next(hold(point), say('There.'))
  await chat.send('Hello')
  await point.reached
  await expect(picker).toBeVisible()
  point.release()
  await chat.hasEnded('There.')
  await chat.newSession()
  model.next(fail(401, 'no such key'))
  await chat.send('Hello')
  await expect(chat.rows.last()).toContainText('key')
  await chat.isIdle()
  await twice(chat, () => expect(picker).toBeVisible())
})

test('thinking opens with one click', async ({ chat, model }) => {
  model.next(think('A colour is needed.'), ...words('Red.'))
  await chat.ask('Choose', 'Red.')
  await chat.page.getByRole('button', { name: /^Thought/ }).click()
  await expect(chat.page.getByText('A colour is needed.')).toBeVisible()
})

test('the clock of a run stands still while the page is disconnected', async ({ chat, model, watch }) => {
  watch.allowNetworkFailures()
  const point = new Hold()
  model.next(...words('one two'), hold(point), say(' three'))
  await chat.page.clock.install()
  await chat.send('Count')
  await expect(chat.rows.last()).toContainText('two')
  await chat.page.context().setOffline(true)
  await expect(run(chat)).toContainText('Disconnected; run status unknown')
  const shown = await run(chat).textContent()
  await chat.page.clock.fastForward(120_000)
  expect(await run(chat).textContent()).toBe(shown)
  await chat.page.context().setOffline(false)
  await chat.page.clock.resume()
  point.release()
  await chat.hasEnded('one two three')
})
