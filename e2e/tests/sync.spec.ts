/** However a page was reloaded, cut off, frozen or doubled: it ends as if nothing had happened. */

import { Chat } from '../support/chat.ts'
import { call, Hold, hold, say, think, words, type Step } from '../support/model.ts'
import { look } from '../support/pages.ts'
import { expect, test } from '../support/test.ts'
import { Wire } from '../support/wire.ts'

/** Two turns with a tool between them; the numbers make a lost or doubled word visible. */
const FIRST: Step[] = [think('Let me'), think(' look.'), ...words('one two three four'), call('ls', { path: '.' })]
const SECOND: Step[] = words('five six **seven** eight nine\n\n- ten\n- eleven')
const LENGTH = FIRST.length + SECOND.length

/** The answer, stopped after some of its steps. */
function stopped(at: number): { turns: Step[][]; point: Hold } {
  const point = new Hold()
  const all = [...FIRST, ...SECOND]
  all.splice(at, 0, hold(point))
  const split = at <= FIRST.length ? FIRST.length + 1 : FIRST.length
  return { turns: [all.slice(0, split), all.slice(split)], point }
}

test('the first chat, from the printed link', async ({ chat, model }) => {
  await expect(chat.page).not.toHaveURL(/token/)
  await chat.ask('Hello there', 'You said: Hello there')
  await expect(chat.rows).toHaveCount(2)
  await expect(chat.page).toHaveURL(/\/s\//)
  await expect(chat.page).toHaveTitle(/Hello there/)
  await expect(chat.page.locator('.sessions').getByRole('link', { name: /Hello there/ })).toBeVisible()
  expect(model.requests).toHaveLength(1)
})

for (const half of [0, 1])
  test(`a reload at any point of an answer ends with the same page (${half === 0 ? 'even' : 'odd'} points)`, async ({
    chat,
    model,
  }) => {
    test.slow()
    model.next(...FIRST)
    model.next(...SECOND)
    await chat.ask('Count', 'eleven')
    const expected = await chat.transcript()
    expect(expected.join('\n')).toMatch(/one two three four[^]*five six seven eight nine[^]*ten[^]*eleven/)

    for (let at = half; at <= LENGTH; at += 2) {
      await chat.newSession()
      const { turns, point } = stopped(at)
      turns.forEach((turn) => model.next(...turn))
      await chat.send('Count')
      await point.reached
      await chat.sessionId()
      await chat.reload()
      const before = [...FIRST, ...SECOND][at - 1]
      if (before?.kind === 'text')
        await expect(chat.rows.last(), `after ${at} steps`).toContainText(before.text.replaceAll(/[*-]/g, '').trim())
      point.release()
      await chat.hasEnded('eleven')
      await chat.reads(expected, `the conversation after a reload at step ${at}`)
    }
  })

test('how long it thought is known after a reload', async ({ chat, model }) => {
  model.next(...FIRST)
  model.next(...SECOND)
  await chat.ask('Count', 'eleven')
  const activity = chat.page.locator('[data-kind=activity]').first()
  await expect(activity).toContainText(/Thought.*\d/)
  await chat.reload()
  await expect(activity).toContainText(/Thought.*\d/)
})

test('two tabs are equal, whichever sends', async ({ chat, model }) => {
  await chat.ask('First', 'You said: First')
  const other = await chat.second()
  await other.reads(await chat.transcript())

  const { turns, point } = stopped(5)
  turns.forEach((turn) => model.next(...turn))
  await other.send('Count')
  await point.reached
  await expect(chat.rows.last()).toContainText('three')
  await other.reads(await chat.transcript())
  await expect(chat.stopButton).toBeVisible()
  const third = await chat.second()
  await third.page.close()
  point.release()
  await chat.hasEnded('eleven')
  await other.hasEnded('eleven')
  await other.reads(await chat.transcript())
})

test('offline and back: nothing is missing, nothing is doubled, no banner stays', async ({ chat, model, watch }) => {
  watch.allowNetworkFailures()
  const { turns, point } = stopped(5)
  turns.forEach((turn) => model.next(...turn))
  await chat.send('Count')
  await point.reached
  await expect(chat.rows.last()).toContainText('three')
  await chat.page.context().setOffline(true)
  await expect(chat.pill).toBeVisible()
  await chat.field.fill('Written while offline')
  await chat.field.press('Alt+Enter')
  point.release()
  await chat.page.context().setOffline(false)
  await expect(chat.pill).toHaveCount(0)
  await chat.hasEnded('You said: Written while offline')
  const read = await chat.transcript()
  expect(read.filter((row) => row.includes('Written while offline'))).toHaveLength(2)
  await chat.reload()
  await chat.reads(read)
  await expect(chat.page.getByRole('alert').filter({ hasText: /./ })).toHaveCount(0)
})

test('a connection that is cut again and again', async ({ page, server, model, watch }) => {
  watch.allowNetworkFailures()
  const wire = await Wire.to(server.address)
  try {
    const chat = new Chat(page)
    await chat.enter(server.link.replace(server.address, wire.address))
    model.next(...FIRST)
    model.next(...SECOND)
    await chat.ask('Count', 'eleven')
    const expected = await chat.transcript()
    await chat.newSession()

    const points = Array.from({ length: 4 }, () => new Hold())
    model.next(...FIRST.slice(0, 4), hold(points[0]!), ...FIRST.slice(4), hold(points[1]!))
    model.next(...SECOND.slice(0, 2), hold(points[2]!), ...SECOND.slice(2), hold(points[3]!))
    await chat.send('Count')
    await chat.sessionId()
    for (const point of points) {
      await point.reached
      wire.cut()
      point.release()
      await expect(chat.pill).toHaveCount(0)
    }
    await chat.hasEnded('eleven')
    await chat.reads(expected)
  } finally {
    await wire.close()
  }
})

test('a server that is killed and started again under an open page', async ({ chat, server, model, watch }) => {
  watch.allowNetworkFailures()
  await chat.ask('Before', 'You said: Before')
  const point = new Hold()
  model.next(...words('one two three'), hold(point))
  await chat.send('Count')
  await point.reached
  await expect(chat.rows.last()).toContainText('three')
  await server.kill()
  await expect(chat.pill).toBeVisible()
  await server.start()
  await expect(chat.pill).toHaveCount(0)
  await chat.isIdle()
  const healed = await chat.transcript()
  expect(healed.filter((row) => row.startsWith('user: Count'))).toHaveLength(1)
  // What was said is kept a few times a second: the kill comes before the first time or after it.
  expect(
    healed.filter((row) => /Stopped\.|Interrupted: the server stopped/.test(row)),
    'said once',
  ).toHaveLength(1)
  await chat.reload()
  await chat.reads(healed, 'a page that lived through the restart reads like a new one')
  // The answer that was cut off is no answer: the model sees both messages.
  await chat.ask('After', 'After')
})

test('a server that is shut down and started again under an open page', async ({ chat, server, model, watch }) => {
  watch.allowNetworkFailures()
  await chat.ask('Before', 'You said: Before')
  const point = new Hold()
  model.next(...words('one two three'), hold(point))
  await chat.send('Count')
  await point.reached
  await expect(chat.rows.last()).toContainText('three')
  await server.kill('SIGTERM')
  await expect(chat.pill).toBeVisible()
  // What is written meanwhile goes out when the server is back.
  await chat.field.fill('Written meanwhile')
  await chat.field.press('Enter')
  await server.start()
  await expect(chat.pill).toHaveCount(0)
  // The answer that was cut off is none, so the model is asked for both.
  await chat.hasEnded('Written meanwhile')
  const read = await chat.transcript()
  expect(read.filter((row) => row.includes('one two three'))).toHaveLength(1)
  expect(read.filter((row) => row.startsWith('user:'))).toHaveLength(3)
  await chat.reload()
  await chat.reads(read)
})

test('a tab that was frozen while the answer came', async ({ chat, model }) => {
  const other = await chat.second()
  const { turns, point } = stopped(5)
  turns.forEach((turn) => model.next(...turn))
  await chat.send('Count')
  const id = await chat.sessionId()
  await point.reached
  await other.page.goto(new URL(`/s/${id}`, chat.page.url()).href)
  await expect(other.rows.last()).toContainText('three')
  const browser = await chat.page.context().newCDPSession(other.page)
  await browser.send('Page.setWebLifecycleState', { state: 'frozen' })
  point.release()
  await chat.hasEnded('eleven')
  await browser.send('Page.setWebLifecycleState', { state: 'active' })
  await other.hasEnded('eleven')
  await other.reads(await chat.transcript())
})

test('a message whose answer fails says so once, and can be tried again', async ({ chat, model }) => {
  model.next({ kind: 'fail', status: 400, message: 'this model is out of order' })
  await chat.send('Hello')
  await expect(chat.page.getByRole('alert').filter({ hasText: /order/ }).first()).toBeAttached()
  await chat.isIdle()
  await chat.page.getByRole('button', { name: 'Retry', exact: true }).first().click()
  await chat.hasEnded('You said: Hello')
  await expect(chat.row('out of order')).toHaveCount(0)
})

test('errors are shown in the language of the page', async ({ chat, model }) => {
  await look(chat.page, 'light', 'zh')
  await chat.page.reload()
  model.next({ kind: 'fail', status: 401, message: 'no such key' })
  await chat.send('你好')
  await expect(chat.rows.getByRole('alert')).toContainText(/渠道/)
  await expect(chat.rows.getByRole('alert')).toHaveCount(1)
})

test('the view follows the answer until the user scrolls up', async ({ chat, model }) => {
  const long = Array.from({ length: 60 }, (_, at) => say(`Line ${at}\n\n`))
  const point = new Hold()
  model.next(...long, hold(point), ...Array.from({ length: 20 }, (_, at) => say(`More ${at}\n\n`)), say('the end'))
  await chat.send('Tell me much')
  await point.reached
  const scroller = chat.page.locator('[data-region=transcript]')
  const below = () => scroller.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)
  await expect(chat.rows.last()).toContainText('Line 59')
  await expect.poll(below).toBeLessThan(48)
  await scroller.hover()
  await chat.page.mouse.wheel(0, -600)
  await expect.poll(below).toBeGreaterThan(300)
  const top = await scroller.evaluate((box) => box.scrollTop)
  point.release()
  await chat.hasEnded('the end')
  expect(await scroller.evaluate((box) => box.scrollTop)).toBe(top)
  await chat.page.getByRole('button', { name: /Jump to latest/ }).click()
  await expect.poll(below).toBeLessThan(48)
})

test('editing an earlier message by keyboard keeps the position', async ({ chat, model }) => {
  model.next(...Array.from({ length: 22 }, (_, at) => say(`Line ${at}\n\n`)), say('the end'))
  await chat.ask('Tell me something', 'the end')
  await expect(chat.rows.first()).not.toBeInViewport()
  const edit = chat.rows.first().getByRole('button', { name: 'Edit' })
  await edit.focus()
  await edit.press('Enter')
  const field = chat.page.getByRole('textbox', { name: 'Edit message' })
  await expect(field).toBeFocused()
  await expect(field).toBeInViewport()
})
