import { useI18n } from 'vue-i18n'

/**
 * The name of a tool for people, the same whether a call is running or was loaded: by its own name where it is one of
 * NetaClaw's, else as the server or whoever offers it calls it.
 */
export function useToolName(): (tool: { name: string; label: string }) => string {
  const { t, te } = useI18n()
  return ({ name, label }) => (te(`ui.tool.names.${name}`) ? t(`ui.tool.names.${name}`) : label || name)
}
