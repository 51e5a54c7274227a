import { useI18n } from 'vue-i18n'
import { ApiError } from '.'

/** Refusals for which the server gives the reason and what to do; a proxy in between does not. */
const EXPLAINED = ['rate_limited', 'unavailable']
/** Refusals whose words are of no help to people; the others tell what exactly is wrong. */
const PLAIN = [
  'unauthorized',
  'forbidden',
  'not_found',
  'rate_limited',
  'unavailable',
  'internal',
  'unreachable',
] as const

/** Says what went wrong, in the language of the page as far as it can. */
export function useProblem(): (error: unknown) => string {
  const { t, te } = useI18n()
  /** Fields as forms call them, not as the wire does. */
  function nameOf(field: string): string | null {
    const key = ['channels', 'agents', 'mcp', 'memory', 'settings', 'skills']
      .map((page) => `${page}.field.${field}`)
      .find((key) => te(key))
    return key ? t(key) : null
  }
  return (error) => {
    if (!(error instanceof ApiError)) return t('admin.problem.internal')
    if (error.isExplained && EXPLAINED.includes(error.code)) return error.message
    const plain = PLAIN.find((code) => code === error.code)
    const field = error.field === null ? null : nameOf(error.field)
    if (!plain && field !== null) return t('admin.problem.field', { field, message: error.besideField })
    return plain ? t(`admin.problem.${plain}`) : t('admin.problem.refused', { message: error.message })
  }
}
