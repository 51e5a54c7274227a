import { useI18n } from 'vue-i18n'

/**
 * The name of a tool for people, the same whether a call is running or was loaded: by its own name where it is one of
 * NetaClaw's or of an MCP server, of which a stored call knows nothing else; other tools as they call themselves.
 */
export function useToolName(): (tool: { name: string; label: string }) => string {
  const { t, te } = useI18n()
  return ({ name, label }) => {
    if (te(`ui.tool.names.${name}`)) return t(`ui.tool.names.${name}`)
    const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
    return server && tool ? `${tool} · ${server}` : label || name
  }
}
