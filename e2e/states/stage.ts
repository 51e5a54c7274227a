/** What people meet besides the pages at rest: work under way, questions, dialogs, emptiness and trouble. */

import type { Page } from '@playwright/test'
import type { Chat } from '../support/chat.ts'
import type { FakeModel } from '../support/model.ts'
import type { Server } from '../support/server.ts'

export type Prepare = (page: Page) => Promise<unknown>

/** Looks at a state of the server, in several looks: takes pictures of it, or judges it. */
export interface Shots {
  /** `ready` is what has to be there before anything is done or looked at. */
  take(name: string, path: string, ready: string, prepare?: Prepare, prefs?: object): Promise<void>
}

export interface Stage {
  readonly chat: Chat
  readonly model: FakeModel
  readonly server: Server
  readonly shots: Shots
}

export const EVERYTHING = { verbosity: 'everything' }
export const ROW = '[data-row]'
