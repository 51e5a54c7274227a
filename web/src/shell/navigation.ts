import { MessageSquare } from '@lucide/vue'
import type { Component } from 'vue'

/** Pages that the sidebar leads to, in their order. */
export interface NavigationItem {
  to: string
  /** The key of its name. */
  text: string
  icon: Component
  /** Only for those who may configure the server. */
  configures: boolean
}

export const NAVIGATION: readonly NavigationItem[] = [
  { to: '/', text: 'shell.nav.chat', icon: MessageSquare, configures: false },
]
