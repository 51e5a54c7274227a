import { onScopeDispose, watch } from 'vue'
import { useRouter } from 'vue-router'
import { lastSession, rememberSession } from '@/browser/lastSession'
import { draftKey, useAccount, useDrafts, useOutbox, useSession } from '@/stores'

/** Opens the session of the page's address; the first message of a new chat leads to the session's own address. */
export function useOpenSession(id: () => string | null, opened: () => void): void {
  const router = useRouter()
  const session = useSession()
  const account = useAccount()
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

  // Where the next visit begins.
  watch(
    [() => account.me?.userId, () => session.id, () => session.phase] as const,
    ([userId, shown, phase]) => {
      if (userId === undefined) return
      if (shown === null) rememberSession(userId, null)
      else if (phase === 'ready') rememberSession(userId, shown)
      else if (phase === 'missing' && lastSession(userId) === shown) {
        rememberSession(userId, null)
        if (history.state?.isResumed) void router.replace('/')
      }
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
