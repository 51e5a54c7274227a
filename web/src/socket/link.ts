/**
 * The one owner of the socket: connects, and connects again for as long as it takes; asks, and
 * tells what arrives. It knows nothing of sessions or of Vue.
 */

import {
  COMMAND_BYTES_MAX,
  type Answer,
  type Commands,
  type ErrorCode,
  type ServerEvent,
  type LocalizedText,
} from '@/protocol'
import { backoffMs } from './backoff'

export type LinkState =
  | { readonly state: 'connecting'; readonly attempt: number }
  | { readonly state: 'connected' }
  | { readonly state: 'waiting'; readonly attempt: number; readonly retryAt: number }
  | { readonly state: 'offline' }
  /** The server rejected the credentials: the user has to log in. */
  | { readonly state: 'refused'; readonly message: string }
  | { readonly state: 'closed' }

/** Why a question got no answer that helps. */
export class LinkError extends Error {
  constructor(
    readonly code: ErrorCode | 'disconnected' | 'timeout',
    message: string,
  ) {
    super(message)
    this.name = 'LinkError'
  }

  /** Whether a retry may help, because the server has not refused. */
  get isTransient(): boolean {
    return this.code === 'disconnected' || this.code === 'timeout' || this.code === 'unavailable'
  }
}

/** What the link needs of a Socket.IO socket. */
export interface Wire {
  readonly connected: boolean
  connect(): void
  disconnect(): void
  on(event: 'connect', listener: () => void): unknown
  on(event: 'disconnect', listener: (reason: string) => void): unknown
  on(event: 'connect_error', listener: (error: Error) => void): unknown
  onAny(listener: (name: string, payload: unknown) => void): unknown
  timeout(ms: number): {
    emit(name: string, payload: unknown, answer: (error: Error | null, answer: unknown) => void): unknown
  }
}

/** The outside world, so that tests can stand in for it. */
export interface LinkEnvironment {
  now(): number
  random(): number
  after(ms: number, then: () => void): () => void
  isOnline(): boolean
  /** The text of the refusal, in the language of the user. */
  words(refusal: { message: string; words?: LocalizedText }): string
}

export interface LinkListener {
  state(state: LinkState): void
  /** The connection is there (again): whatever was missed has to be asked for. */
  connected(): void
  event(event: ServerEvent): void
  /** Anything that belongs to no session. */
  notice(name: string, payload: unknown): void
}

const ANSWER_WITHIN_MS = 20_000

export class Link {
  private current: LinkState = { state: 'closed' }
  private attempt = 0
  private cancelRetry: (() => void) | null = null

  constructor(
    private readonly wire: Wire,
    private readonly world: LinkEnvironment,
    private readonly heard: LinkListener,
  ) {
    wire.on('connect', () => this.arrived())
    wire.on('disconnect', (reason) => this.lost(reason))
    wire.on('connect_error', (error) => this.failed(error))
    wire.onAny((name, payload) => {
      if (isServerEvent(payload)) heard.event(payload)
      else heard.notice(name, payload)
    })
  }

  get state(): LinkState {
    return this.current
  }

  open(): void {
    if (this.current.state === 'connected' || this.current.state === 'connecting') return
    this.cancelRetry?.()
    this.cancelRetry = null
    this.become({ state: 'connecting', attempt: this.attempt })
    this.wire.connect()
  }

  /** Connects now instead of after the delay: the user asked for it, or the network is back. */
  retryNow(): void {
    if (this.current.state !== 'connected' && this.current.state !== 'closed') this.open()
  }

  /** The browser says that there is no network; trying is of no use until it says otherwise. */
  offline(): void {
    if (this.current.state === 'closed' || this.current.state === 'refused') return
    this.cancelRetry?.()
    this.cancelRetry = null
    this.become({ state: 'offline' })
    this.wire.disconnect()
  }

  close(): void {
    this.cancelRetry?.()
    this.cancelRetry = null
    this.become({ state: 'closed' })
    this.wire.disconnect()
  }

  /** Sends a command. The answer is delivered before any event that follows it. */
  ask<Name extends keyof Commands>(
    name: Name,
    payload: Commands[Name]['ask'],
    then: (answer: Commands[Name]['answer'] & { deduped?: boolean }) => void,
    fail: (error: LinkError) => void,
  ): void {
    if (!this.wire.connected) {
      fail(new LinkError('disconnected', 'not connected'))
      return
    }
    // The server would not read it to its end, and end the connection instead of answering.
    const bytes = bytesOf([name, payload])
    if (bytes > COMMAND_BYTES_MAX) {
      fail(new LinkError('too_large', this.world.words(tooLarge(bytes))))
      return
    }
    this.wire.timeout(ANSWER_WITHIN_MS).emit(name, payload, (error, answer) => {
      if (error) {
        fail(new LinkError(this.wire.connected ? 'timeout' : 'disconnected', error.message))
        return
      }
      const told = answer as Answer<Commands[Name]['answer']>
      if (told.ok) then(told)
      else fail(new LinkError(told.code, this.world.words(told)))
    })
  }

  /** The same, but events may be delivered before the answer. */
  request<Name extends keyof Commands>(
    name: Name,
    payload: Commands[Name]['ask'],
  ): Promise<Commands[Name]['answer'] & { deduped?: boolean }> {
    return new Promise((resolve, reject) => this.ask(name, payload, resolve, reject))
  }

  private arrived(): void {
    this.attempt = 0
    this.become({ state: 'connected' })
    this.heard.connected()
  }

  private lost(reason: string): void {
    if (this.current.state !== 'connected' && this.current.state !== 'connecting') return
    // The server has ended it, such as for a login that is no longer valid: ask again at once, and
    // hear why.
    if (reason === 'io server disconnect') this.wait(0)
    else this.wait(backoffMs(this.attempt, this.world.random))
  }

  private failed(error: Error): void {
    if (this.current.state === 'closed' || this.current.state === 'offline') return
    if (error.message.startsWith('unauthorized')) {
      this.become({ state: 'refused', message: error.message })
      return
    }
    this.attempt++
    this.wait(backoffMs(this.attempt, this.world.random))
  }

  private wait(ms: number): void {
    if (!this.world.isOnline()) {
      this.become({ state: 'offline' })
      return
    }
    this.cancelRetry?.()
    this.become({ state: 'waiting', attempt: this.attempt, retryAt: this.world.now() + ms })
    this.cancelRetry = this.world.after(ms, () => this.open())
  }

  private become(state: LinkState): void {
    this.current = state
    this.heard.state(state)
  }
}

/** How long a command is on its way. Most are so short that their letters need not be counted one by one. */
function bytesOf(command: unknown): number {
  const text = JSON.stringify(command)
  // No letter takes more than three bytes for each unit of its length.
  return text.length * 3 <= COMMAND_BYTES_MAX ? text.length : new TextEncoder().encode(text).length
}

/** As the server says it. */
function tooLarge(bytes: number): { message: string; words: LocalizedText } {
  const [kb, max] = [Math.ceil(bytes / 1024), COMMAND_BYTES_MAX / 1024]
  const en = `The message has ${kb} kB, and ${max} are allowed. Attach long texts as files.`
  return { message: en, words: { zh: `消息有 ${kb} KB，最多允许 ${max} KB。较长的文字请作为文件添加。`, en } }
}

function isServerEvent(payload: unknown): payload is ServerEvent {
  return typeof payload === 'object' && payload !== null && 'sessionId' in payload && 'epoch' in payload
}
