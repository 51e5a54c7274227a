import { ElMessage } from 'element-plus'
import 'element-plus/es/components/message/style/css'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import { useDeleteSession } from '@/shell/useDeleteSession'
import { useSessions } from '@/stores'
import { useConfirm } from '@/ui/dialog/useConfirm'

/** Archives and deletes the session that is open, and leads on to a new one. */
export function useManage(sessionId: () => string | null) {
  const { t } = useI18n()
  const router = useRouter()
  const sessions = useSessions()
  const confirm = useConfirm()
  const askToDelete = useDeleteSession(confirm)

  async function leave(act: (id: string) => Promise<void>): Promise<void> {
    const id = sessionId()
    if (id === null) return
    try {
      await act(id)
      if (sessionId() === id) await router.push('/')
    } catch (error) {
      ElMessage.error(t('shell.sessions.problem', { message: error instanceof Error ? error.message : String(error) }))
    }
  }

  return {
    confirm,
    archive: () => leave((id) => sessions.change(id, { status: 'archived' })),
    async remove(title: string): Promise<void> {
      if (await askToDelete(title, false)) await leave((id) => sessions.remove(id))
    },
  }
}
