/** Lists, and how much is shown. */

import type { Millis } from './time'

export interface SessionRow {
  id: string
  title: string
  /** The beginning of the last or first message. */
  preview: string
  agentName: string
  updatedAt: Millis
  running: boolean
  /** Waits for an answer of the user. */
  asking: boolean
  unread: boolean
  archived: boolean
  current: boolean
  /** Made from another session. */
  forked: boolean
}

/** Sessions that were last changed at about the same time. */
export interface SessionGroup {
  age: 'today' | 'yesterday' | 'week' | 'month' | 'older'
  rows: readonly SessionRow[]
}

export type Verbosity = 'answer' | 'summary' | 'everything'
