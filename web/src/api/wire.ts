/** Bodies of REST answers that the generated protocol does not hold yet. */

import type { Entry, ModelInfo, Role, SessionMeta, Supplier, TokenScope } from '@/protocol'

export type SessionListItem = Omit<SessionMeta, 'cwd' | 'metadata'> & {
  running: boolean
  waiting: boolean
  unread: boolean
  queued: number
}

export interface SessionList {
  items: SessionListItem[]
  page: number
  size: number
  total: number
}

export interface Me {
  userId: string
  name: string
  label?: string
  role: Role
  scope: TokenScope
  mayWrite?: boolean
  mayConfigure?: boolean
  protocol?: number
  version?: string
}

export interface EntryPage {
  view: 'full'
  items: Entry[]
  total: number
  cursor?: string
}

export interface TreeEntry {
  id: string
  parentId?: string
  type: string
  role?: string
  timestamp: string
  preview?: string
  label?: string
  toolNames?: string[]
  isError?: boolean
}

export interface SessionTreeView {
  leafEntryId?: string
  entries: TreeEntry[]
  skippedLines: number
}

export interface UploadedFile {
  id: string
  name: string
  mimeType: string
  bytes: number
  kind: 'image' | 'text' | 'other'
}

export interface AgentSummary {
  id: string
  name: string
  label: string
  description: string
  isDefault: boolean
}

export interface ModelChoices {
  items: {
    channelId: string
    channelName: string
    supplier: Supplier
    isAuxiliary: boolean
    models: ModelInfo[]
  }[]
}
