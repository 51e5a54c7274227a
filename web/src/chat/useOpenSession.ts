import { onScopeDispose, watch } from 'vue'
import { useRouter } from 'vue-router'
import { draftKey, useDrafts, useOutbox, useSession } from '@/stores'

/** Opens the session of the page's address; the first message of a new chat leads to the session's own address. */
export function useOpenSession(id: () => string | null, opened: () => void): void {
  const router = useRouter()
  const session = useSession()
  const outbox = useOutbox()
  const drafts = useDrafts()
  /** The session that the first message of a new chat has created. */
  let created: string | null = null

  watch(
    id,
    (id) => {
      // What was written since the first message was sent belongs to the session too.
      if (id !== null && id === created) drafts.move(draftKey(null, null), draftKey(id, null))
      created = null
      session.open(id)
      opened()
    },
    { immediate: true },
  )

  onScopeDispose(
    outbox.onAcknowledged((item, ack) => {
      if (item.chat.sessionId || session.id !== null) return
      created = ack.sessionId
      void router.replace(`/s/${encodeURIComponent(ack.sessionId)}`)
    }),
  )
}
