import { onScopeDispose, ref, watch } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import { markTab } from '@/browser/tab'
import { showNotification } from '@/browser/notifications'
import { usePrefs, useSessions } from '@/stores'
import { newsTracker, type News } from '@/view/news'

/**
 * While the tab is hidden: marks its title and icon when a run ends or something waits for the user, and shows a
 * notification of the browser if the user has asked for them.
 */
export function useAttention(): void {
  const { t } = useI18n()
  const router = useRouter()
  const sessions = useSessions()
  const prefs = usePrefs()
  const track = newsTracker()
  /** Sessions with news since the tab was left. */
  const seen = new Set<string>()
  const count = ref(0)

  watch(
    () => sessions.items,
    (items) => {
      const news = track(items)
      if (document.hidden) news.forEach(tell)
    },
    { immediate: true },
  )
  watch(count, (count) => markTab(count))

  function tell(news: News): void {
    seen.add(news.sessionId)
    count.value = seen.size
    if (!prefs.notifications) return
    const title = news.title || t('shell.sessions.untitled')
    showNotification(title, t(`shell.news.${news.kind}`), news.sessionId, () => {
      void router.push(`/s/${encodeURIComponent(news.sessionId)}`)
    })
  }

  function onVisible(): void {
    if (document.hidden) return
    seen.clear()
    count.value = 0
  }
  document.addEventListener('visibilitychange', onVisible)
  onScopeDispose(() => {
    document.removeEventListener('visibilitychange', onVisible)
    markTab(0)
  })
}
