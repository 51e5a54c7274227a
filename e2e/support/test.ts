/** What every test starts with: a model, a server that uses it, and a page without errors in its console. */

import { expect, test as base, type BrowserContext } from '@playwright/test'
import { Chat } from './chat.ts'
import { FakeModel } from './model.ts'
import { Server } from './server.ts'

const NETWORK_FAILURE = /net::ERR_|WebSocket connection to .* failed/

/** Complaints of the browser. A test that makes some says so. */
export class Watch {
  readonly #complaints: string[] = []
  #allowed: RegExp[] = []

  /** The test cuts the network or stops the server: that requests fail is what it wants. */
  allowNetworkFailures(): void {
    this.allow(NETWORK_FAILURE)
    this.allow(/Failed to load resource: the server responded with a status of 50\d/)
  }

  allow(message: RegExp): void {
    this.#allowed.push(message)
  }

  async on(context: BrowserContext): Promise<void> {
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) =>
        console.error(`CSP: ${event.violatedDirective} refused ${event.blockedURI || 'inline'} ${event.sample}`),
      )
    })
    context.on('console', (message) => {
      const { url } = message.location()
      // A page that still loads when its test is over loses its server; that is no fault of the page.
      if (!['error', 'warning'].includes(message.type()) || (NETWORK_FAILURE.test(message.text()) && Server.wasAt(url)))
        return
      this.#complaints.push(`${message.type()}: ${message.text()} (${url})`)
    })
    context.on('weberror', (error) => this.#complaints.push(`uncaught: ${error.error().stack ?? error.error()}`))
  }

  get complaints(): string[] {
    return this.#complaints.filter((complaint) => !this.#allowed.some((allowed) => allowed.test(complaint)))
  }
}

export const test = base.extend<{ model: FakeModel; server: Server; watch: Watch; chat: Chat }>({
  // Playwright reads the names of fixtures from the first argument, which therefore has to be a pattern.
  // eslint-disable-next-line no-empty-pattern
  model: async ({}, use) => {
    const model = new FakeModel()
    await model.start()
    await use(model)
    await model.stop()
  },

  server: async ({ model }, use, info) => {
    const server = new Server()
    try {
      await server.useModel(model.address)
      await server.start()
      await use(server)
      if (info.status !== info.expectedStatus)
        await info.attach('server.log', { body: server.log, contentType: 'text/plain' })
    } finally {
      await server.remove()
    }
  },

  watch: [
    async ({ context }, use) => {
      const watch = new Watch()
      await watch.on(context)
      await use(watch)
      expect(watch.complaints, 'the console of the browser').toEqual([])
    },
    { auto: true },
  ],

  chat: async ({ page, server }, use) => {
    const chat = new Chat(page)
    await chat.enter(server.link)
    await use(chat)
  },
})

export { expect }
