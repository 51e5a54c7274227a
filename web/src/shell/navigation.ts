import { Bot, Brain, Cable, Plug, Settings, Sparkles, Wrench } from '@lucide/vue'
import type { Component } from 'vue'

/** Pages that the sidebar leads to, in their order. */
export interface NavigationItem {
  to: string
  /** The key of its name. */
  text: string
  icon: Component
  /** Only for those who may configure the server; they stand in one entry. */
  configures: boolean
}

export const NAVIGATION: readonly NavigationItem[] = [
  { to: '/agents', text: 'agents.title', icon: Bot, configures: true },
  { to: '/channels', text: 'channels.title', icon: Cable, configures: true },
  { to: '/tools', text: 'tools.title', icon: Wrench, configures: true },
  { to: '/skills', text: 'skills.title', icon: Sparkles, configures: true },
  { to: '/mcp-servers', text: 'mcp.title', icon: Plug, configures: true },
  { to: '/memory', text: 'memory.title', icon: Brain, configures: false },
  { to: '/settings', text: 'settings.title', icon: Settings, configures: false },
]
