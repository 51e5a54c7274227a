import { useI18n } from 'vue-i18n'
import type { ApprovalScope } from '@/protocol'
import { scopeWords } from '@/view/standing'

/** What a standing approval covers, in words. */
export function useScopeText() {
  const { t } = useI18n()
  return (scope: ApprovalScope, tool: string, sample = ''): string => {
    const { key, what } = scopeWords(scope)
    if (key === 'call' && sample !== '') return t('ui.standing.callOf', { tool, sample })
    return t(`ui.standing.${key}`, { tool, what })
  }
}
