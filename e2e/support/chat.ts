/** The chat page, as a user operates it. */

import { expect, type Locator, type Page } from '@playwright/test'

export class Chat {
  readonly field: Locator
  readonly stopButton: Locator
  readonly rows: Locator
  readonly answers: Locator
  readonly questions: Locator
  readonly approvals: Locator
  readonly queue: Locator
  readonly tree: Locator
  readonly pill: Locator
  readonly status: Locator

  constructor(readonly page: Page) {
    this.field = page.locator('[data-region=composer] textarea')
    this.stopButton = page.locator('[data-region=composer] [data-kind=stop]')
    this.rows = page.locator('[data-region=transcript] [data-row]')
    this.answers = page.locator('[data-row][data-kind=assistant]')
    this.questions = page.locator('section.question')
    this.approvals = page.locator('[data-region=approval]')
    this.queue = page.locator('section.queue li')
    this.tree = page.locator('[data-region=tree]')
    this.pill = page.locator('.pill[data-state]')
    this.status = page.locator('[data-region=status]')
  }

  /** Opens the link that the server printed. */
  async enter(link: string): Promise<void> {
    await this.page.goto(link)
    await expect(this.field).toBeVisible()
    await expect(this.pill).toHaveCount(0)
  }

  /** Another tab on the same session. */
  async second(): Promise<Chat> {
    const page = await this.page.context().newPage()
    await page.goto(this.page.url())
    const chat = new Chat(page)
    await expect(chat.field).toBeVisible()
    return chat
  }

  async send(text: string, key = 'Enter'): Promise<void> {
    await this.field.fill(text)
    await this.field.press(key)
    await expect(this.field).toHaveValue('')
  }

  /** Says something and waits until the answer is there and complete. */
  async ask(text: string, answer: string): Promise<void> {
    await this.send(text)
    // The message may contain the same words, and is on the page before the answer.
    await expect.poll(() => this.lastAnswer(), { timeout: 30_000 }).toContain(answer)
    await this.hasEnded(answer)
  }

  /** What the last row says, if it is an answer. */
  private async lastAnswer(): Promise<string> {
    return await this.rows.evaluateAll((rows) => {
      const last = rows.at(-1) as HTMLElement | undefined
      return last?.dataset['kind'] === 'assistant' ? (last.textContent ?? '').replace(/\s+/g, ' ') : ''
    })
  }

  /** Waits for the end of a run whose last row contains this text. */
  async hasEnded(text: string): Promise<void> {
    await expect(this.rows.last()).toContainText(text)
    await this.isIdle()
  }

  async isIdle(): Promise<void> {
    await expect(this.stopButton).toHaveCount(0)
    await expect(this.page.getByRole('log')).toHaveAttribute('aria-busy', 'false')
  }

  /** From the address of the session, once it has one. */
  async sessionId(): Promise<string> {
    await this.page.waitForURL(/\/s\/./)
    return decodeURIComponent(this.page.url().split('/s/')[1]!)
  }

  async newSession(): Promise<void> {
    await this.page.goto(new URL('/new', this.page.url()).href)
    await expect(this.field).toBeVisible()
  }

  async reload(): Promise<void> {
    await this.page.reload()
    await expect(this.rows.first()).toBeVisible()
  }

  /** The conversation as it reads, without what differs between two runs of the same: clocks and durations. */
  async transcript(): Promise<string[]> {
    const rows = await this.rows.evaluateAll((rows) =>
      rows
        .map((row) => ({
          top: row.getBoundingClientRect().top,
          text: `${(row as HTMLElement).dataset['kind']}: ${(row as HTMLElement).innerText}`,
        }))
        .sort((a, b) => a.top - b.top)
        .map((row) => row.text),
    )
    return rows.map((row) =>
      row
        .replace(/\b\d+(\.\d+)? ?(ms|s|min)\b/g, '#')
        .replace(/\b\d{1,2}:\d{2}\b/g, '#')
        .replace(/\s+/g, ' ')
        .trim(),
    )
  }

  /** Waits until the conversation reads like this. */
  async reads(expected: string[], why = 'the conversation'): Promise<void> {
    await expect(async () => expect(await this.transcript(), why).toEqual(expected)).toPass({ timeout: 30_000 })
  }

  row(text: string): Locator {
    return this.rows.filter({ hasText: text })
  }

  /** A button of a message. */
  async act(row: Locator, name: string): Promise<void> {
    await row.hover()
    await row.getByRole('button', { name, exact: true }).click()
  }

  /** An item of the menu of a message. */
  async choose(row: Locator, name: string): Promise<void> {
    await this.act(row, 'More')
    await this.page.getByRole('menuitem', { name }).click()
  }

  /** Fills in the label that is being edited; an empty one is taken away. */
  async label(text: string): Promise<void> {
    const field = this.rows.getByRole('textbox', { name: 'Label' })
    await field.fill(text)
    await field.press('Enter')
    await expect(field).toHaveCount(0)
  }
}
