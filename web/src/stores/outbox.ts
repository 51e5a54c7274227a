import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import { load, save } from '@/browser/storage'
import type { Chat, ChatAck } from '@/protocol'
import { Outbox, type Outgoing } from '@/socket'
import { useConnection } from './connection'
import { useDrafts } from './drafts'
import { useSession } from './session'

const KEY = 'netaclaw.outbox'
const RETRY_MS = 3_000
/** What is older than this is offered to the user again instead of sent: much may have changed. */
const RESEND_WITHIN_MS = 10 * 60 * 1_000

const ignore = () => {}

/** Messages on their way. They survive a reload of their tab. */
export const useOutbox = defineStore('outbox', () => {
  const connection = useConnection()
  const items = shallowRef<readonly Outgoing[]>([])
  const listeners = new Set<(item: Outgoing, ack: ChatAck) => void>()

  const outbox = new Outbox({
    isConnected: () => connection.isConnected,
    send: (chat, then, fail) => connection.ask('chat', chat, then, fail),
    changed: (next) => {
      items.value = next
      save(
        'session',
        KEY,
        next.map(({ problem: _, ...item }) => item),
      )
    },
    acknowledged: (item, ack) => {
      listeners.forEach((hear) => hear(item, ack))
      // The client that starts a session is subscribed to it; only the session that is shown is of use here.
      if (ack.feed && useSession().id !== ack.sessionId) {
        connection.ask('session_close', { sessionId: ack.sessionId }, ignore, ignore)
      }
    },
    later: (then) => void setTimeout(then, RETRY_MS),
  })
  connection.onConnected(() => outbox.resend())
  restore()

  function restore(): void {
    const left = load<Outgoing[]>('session', KEY, [])
    const isFresh = (item: Outgoing) => Date.now() - item.sentAt < RESEND_WITHIN_MS
    const drafts = useDrafts()
    for (const item of left.filter((item) => !isFresh(item))) drafts.giveBack(item.draftKey, item.chat.content)
    outbox.restore(left.filter(isFresh))
  }

  return {
    items,
    unsent: computed(() => items.value.filter((item) => item.state !== 'failed').length),
    send(chat: Chat, draftKey: string): string {
      const requestId = crypto.randomUUID()
      outbox.add(chat, requestId, draftKey, Date.now())
      return requestId
    },
    retry: (requestId: string) => outbox.retry(requestId, crypto.randomUUID(), Date.now()),
    take: (requestId: string) => outbox.take(requestId),
    onAcknowledged(hear: (item: Outgoing, ack: ChatAck) => void): () => void {
      listeners.add(hear)
      return () => listeners.delete(hear)
    },
  }
})
