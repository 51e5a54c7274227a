import { computed, watch, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { setTabTitle } from '@/browser/tab'
import { useSession } from '@/stores'
import { oneLine } from '@/view/content'
import type { TranscriptRow } from '@/view/types'

/** The title of the session, which is also that of the browser's tab. Until it has a name, it is the first message. */
export function useTitle(
  sessionId: () => string | null,
  rows: Readonly<Ref<readonly TranscriptRow[]>>,
): ComputedRef<string> {
  const { t } = useI18n()
  const session = useSession()

  const title = computed(() => {
    // A session that is not loaded, or does not exist, is not a new chat.
    if (sessionId() && !session.state) return session.phase === 'loading' ? t('chat.loading') : t('shell.app')
    const first = session.state?.meta.firstMessage ?? rows.value.find((row) => row.kind === 'user')?.text
    return session.state?.meta.title || oneLine(first ?? '', 60) || t('shell.sessions.untitled')
  })
  watch(title, (title) => setTabTitle(sessionId() && session.state ? `${title} · NetaClaw` : 'NetaClaw'), {
    immediate: true,
  })
  return title
}
