import { onBeforeUnmount, onMounted } from 'vue'
import { useI18n } from 'vue-i18n'
import { onBeforeRouteLeave, onBeforeRouteUpdate, type RouteLocationNormalized } from 'vue-router'
import type { Confirm } from '@/ui/dialog/useConfirm'

/** Asks before unsaved changes are left behind, by a link or by closing the tab. */
export function useLeaveGuard(isDirty: () => boolean, confirm: Confirm): void {
  const { t } = useI18n()

  async function mayLeave(to: RouteLocationNormalized, from: RouteLocationNormalized): Promise<boolean> {
    // Another tab of the same page leaves nothing behind.
    if (!isDirty() || to.path === from.path) return true
    return confirm.ask({
      title: t('admin.unsaved.title'),
      text: t('admin.unsaved.text'),
      yes: t('admin.unsaved.leave'),
      no: t('admin.unsaved.stay'),
      danger: true,
    })
  }
  onBeforeRouteLeave(mayLeave)
  onBeforeRouteUpdate(mayLeave)

  const onUnload = (event: BeforeUnloadEvent): void => {
    if (isDirty()) event.preventDefault()
  }
  onMounted(() => addEventListener('beforeunload', onUnload))
  onBeforeUnmount(() => removeEventListener('beforeunload', onUnload))
}
