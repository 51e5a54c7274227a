/** The catalogue of tools, as its page shows it. Pure. */

import type { ToolCategory, ToolInfo, ToolStatus } from '@/protocol'

export type GlobalSetting = 'default' | 'on' | 'off'

export interface CatalogueGroup {
  category: ToolCategory
  tools: readonly ToolInfo[]
}

export type CatalogueFilter = 'all' | 'switched' | 'gone'

const ORDER: readonly ToolCategory[] = ['files', 'shell', 'web', 'session', 'memory', 'skills', 'agents', 'external']

export const globalSetting = (tool: ToolInfo): GlobalSetting =>
  tool.status == null ? 'default' : tool.status === 'enabled' ? 'on' : 'off'

export const statusOf = (setting: GlobalSetting): ToolStatus | null =>
  setting === 'default' ? null : setting === 'on' ? 'enabled' : 'disabled'

/** What holds for an agent that says nothing about it. */
export const isOn = (tool: ToolInfo): boolean =>
  tool.present && (tool.status == null ? tool.onByDefault : tool.status === 'enabled')

/** Why programs of the tool are less confined than they could be. */
export const weakness = (tool: ToolInfo): 'refused' | 'off' | null =>
  tool.isolation == null || tool.isolation === 'namespaces' ? null : tool.isolation

/** Tools that match, those of one category together. */
export function catalogueGroups(tools: readonly ToolInfo[], filter: CatalogueFilter, search: string): CatalogueGroup[] {
  const wanted = search.trim().toLowerCase()
  const fits = (tool: ToolInfo): boolean => {
    if (filter === 'switched' && tool.status == null) return false
    if (filter === 'gone' && tool.present) return false
    return [tool.name, tool.label.zh, tool.label.en, tool.description].some((text) =>
      text.toLowerCase().includes(wanted),
    )
  }
  const found = tools.filter(fits)
  return ORDER.map((category) => ({ category, tools: found.filter((tool) => tool.category === category) })).filter(
    (group) => group.tools.length > 0,
  )
}
