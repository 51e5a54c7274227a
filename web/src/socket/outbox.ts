/**
 * Messages that were sent and not yet acknowledged. Each has an id made here, under which the
 * server takes it in at most once; so it is sent again until the server has answered.
 */

import type { Chat, ChatAck } from '@/protocol'
import type { LinkError } from './link'

export interface Outgoing {
  readonly requestId: string
  readonly chat: Chat
  /** What the message is a branch or a draft of, to restore it if it is refused. */
  readonly draftKey: string
  readonly sentAt: number
  readonly state: 'sending' | 'waiting' | 'failed'
  readonly problem: LinkError | null
}

export interface OutboxPort {
  isConnected(): boolean
  send(chat: Chat, then: (ack: ChatAck) => void, fail: (error: LinkError) => void): void
  changed(items: readonly Outgoing[]): void
  acknowledged(item: Outgoing, ack: ChatAck): void
  /** Tries again a little later, while connected. */
  later(then: () => void): void
}

export class Outbox {
  private items: readonly Outgoing[] = []

  constructor(private readonly port: OutboxPort) {}

  /** Takes back what an earlier page had not seen acknowledged. */
  restore(items: readonly Outgoing[]): void {
    this.set([...this.items, ...items.map((item) => ({ ...item, state: 'waiting' as const, problem: null }))])
  }

  add(chat: Chat, requestId: string, draftKey: string, now: number): void {
    const item: Outgoing = {
      requestId,
      chat: { ...chat, requestId },
      draftKey,
      sentAt: now,
      state: this.port.isConnected() ? 'sending' : 'waiting',
      problem: null,
    }
    this.set([...this.items, item])
    this.send(item)
  }

  /** The connection is there (again): everything goes out once more, in its order. */
  resend(): void {
    for (const item of this.items) if (item.state !== 'failed') this.send(item)
  }

  /** Sends again what was refused, as a new request. */
  retry(requestId: string, freshId: string, now: number): void {
    const item = this.take(requestId)
    if (item) this.add(item.chat, freshId, item.draftKey, now)
  }

  /** Gives a message back instead of sending it. */
  take(requestId: string): Outgoing | null {
    const item = this.items.find((other) => other.requestId === requestId) ?? null
    if (item) this.set(this.items.filter((other) => other !== item))
    return item
  }

  private send(item: Outgoing): void {
    if (!this.port.isConnected()) {
      this.update(item.requestId, { state: 'waiting' })
      return
    }
    this.update(item.requestId, { state: 'sending' })
    this.port.send(
      item.chat,
      (ack) => {
        if (this.take(item.requestId)) this.port.acknowledged(item, ack)
      },
      (error) => this.refused(item.requestId, error),
    )
  }

  private refused(requestId: string, problem: LinkError): void {
    if (!problem.isTransient) {
      this.update(requestId, { state: 'failed', problem })
      return
    }
    this.update(requestId, { state: 'waiting' })
    // A lost connection sends everything again when it is back.
    if (problem.code === 'disconnected') return
    this.port.later(() => {
      const item = this.items.find((other) => other.requestId === requestId)
      if (item?.state === 'waiting') this.send(item)
    })
  }

  private update(requestId: string, change: Partial<Outgoing>): void {
    const changes = (item: Outgoing) =>
      Object.entries(change).some(([key, value]) => item[key as keyof Outgoing] !== value)
    if (!this.items.some((item) => item.requestId === requestId && changes(item))) return
    this.set(this.items.map((item) => (item.requestId === requestId ? { ...item, ...change } : item)))
  }

  private set(items: readonly Outgoing[]): void {
    this.items = items
    this.port.changed(items)
  }
}
