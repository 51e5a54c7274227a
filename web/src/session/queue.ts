import type { QueueItem, QueueState, QueueUpdate } from '@/protocol'

/** The queue after a change. The event has the texts of new and changed messages; the others are known. */
export function queueAfter(known: QueueState, update: QueueUpdate): QueueState {
  const before = new Map(known.items.map((item) => [item.itemId, item]))
  const items = update.items.map(({ preview, ...item }): QueueItem => {
    if (typeof item.content === 'string') return { ...item, content: item.content }
    const { content = preview, attachments } = before.get(item.itemId) ?? {}
    return { ...item, content, ...(attachments && { attachments }) }
  })
  return { items, held: update.held }
}
