import { useI18n } from 'vue-i18n'
import type { Confirm } from '@/ui/dialog/useConfirm'

/** Asks whether a session shall be deleted, or deleted permanently. */
export function useDeleteSession(confirm: Confirm): (title: string, permanently: boolean) => Promise<boolean> {
  const { t } = useI18n()
  return (title, permanently) =>
    confirm.ask(
      permanently
        ? {
            title: t('shell.sessions.confirmErase', { title }),
            text: t('shell.sessions.confirmEraseText'),
            yes: t('shell.sessions.erase'),
            danger: true,
          }
        : {
            title: t('shell.sessions.confirmRemove', { title }),
            text: t('shell.sessions.confirmRemoveText'),
            yes: t('shell.sessions.remove'),
            danger: true,
          },
    )
}
