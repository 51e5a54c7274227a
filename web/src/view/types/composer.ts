/** What the composer offers. */

import type { AttachmentKind } from '@/protocol'

export interface ComposerAttachment {
  key: string
  name: string
  mimeType: string
  bytes: number
  /** What the model gets of it; null until the server has looked at it. */
  kind: AttachmentKind | null
  /** For images. */
  preview: string | null
  state: 'reading' | 'uploading' | 'ready' | 'failed'
  /** 0 to 1 while uploading. */
  progress: number
  problem: string | null
  /** Whether uploading it again may help. */
  canRetry: boolean
}

/** Why a command was not carried out, and which ones may have been meant. */
export interface CommandRefusal {
  text: string
  /** Names of commands, with the slash. */
  suggestions: readonly string[]
}

export interface CommandView {
  /** With the slash. */
  name: string
  /** What may follow it, such as `[instructions]`. */
  hint: string
  description: string
}

export interface ChoiceView {
  id: string
  label: string
  /** A second, quieter line. */
  hint: string
  /** Choices of one group stand together; empty for none. */
  group: string
  disabled: boolean
}
