/** What of a message will not reach the model, and what can be done about it. Pure. */

import type { ChannelModels } from '@/protocol'
import { seeingModels, type ModelInUse, type ModelPlace } from './models'
import type { ComposerAttachment } from './types'

export interface UnseenView {
  readonly model: string
  /** The model has no vision, or nothing is known about it. */
  readonly why: 'noVision' | 'unknown'
  /** The images, by the keys of their attachments. */
  readonly keys: readonly string[]
  /** Models that would see them. */
  readonly others: readonly ModelPlace[]
}

const OTHERS_MAX = 3

export const isImage = (file: Pick<ComposerAttachment, 'kind' | 'mimeType'>): boolean =>
  file.kind === null ? file.mimeType.startsWith('image/') : file.kind === 'image'

/** Whether of a file the model gets nothing but the name. */
export const isFileOnly = (file: Pick<ComposerAttachment, 'kind' | 'state'>): boolean => file.kind === 'other'

export function unseenImages(
  files: readonly ComposerAttachment[],
  inUse: ModelInUse | null,
  channels: readonly ChannelModels[],
): UnseenView | null {
  const keys = files.filter((file) => file.state !== 'failed' && isImage(file)).map((file) => file.key)
  if (keys.length === 0 || !inUse || inUse.info?.vision) return null
  const isKnown = inUse.info !== null && inUse.info.source === 'catalogue'
  const isSet = inUse.info !== null && inUse.info.source === 'channel'
  return {
    model: inUse.model,
    why: isKnown || isSet ? 'noVision' : 'unknown',
    keys,
    others: seeingModels(channels, inUse, OTHERS_MAX),
  }
}
