import type { ContentBlock, Entry, MessageMark, UserContent } from '@/protocol'
import type { FileView, ImageView } from './types'

/** Where the picture of an entry can be had that was too large to come along. */
export type ImageAddress = (entryId: string, number: number) => string

/** The words of a message, without what is attached to it. */
export function textOf(content: UserContent | readonly ContentBlock[] | null | undefined): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.map((block: ContentBlock) => (block.type === 'text' ? block.text : null))
  return texts.filter((text) => text !== null).join('\n')
}

export function imagesOf(
  entryId: string,
  content: UserContent | readonly ContentBlock[] | null | undefined,
  address: ImageAddress,
): readonly ImageView[] {
  if (!Array.isArray(content)) return NO_IMAGES
  const images: ImageView[] = []
  for (const block of content as readonly ContentBlock[]) {
    if (block.type !== 'image') continue
    const number = images.length
    const src = block.data === '' ? address(entryId, number) : `data:${block.mimeType};base64,${block.data}`
    images.push({ key: `${entryId}/${number}`, src, alt: '' })
  }
  return images.length === 0 ? NO_IMAGES : images
}

export const NO_IMAGES: readonly ImageView[] = []
export const NO_FILES: readonly FileView[] = []

/** What has to be sent for this text to be that of a message, in place of the message of an entry. */
export function sentAs(entry: Entry | undefined, text: string): string {
  const isLiteral = entry?.type === 'message' && entry.message.role === 'user' && entry.message.netaclaw?.literal
  return isLiteral && text.startsWith('/') ? `/${text}` : text
}

/** A user's message taken apart: words, pictures, and files that stand in blocks of their own. */
export function userParts(
  entryId: string,
  content: UserContent,
  mark: MessageMark | undefined,
  address: ImageAddress,
): { text: string; images: readonly ImageView[]; files: readonly FileView[] } {
  const sent = mark?.attachments ?? []
  if (sent.length === 0 || typeof content === 'string') {
    return { text: textOf(content), images: imagesOf(entryId, content, address), files: NO_FILES }
  }
  const blocks = new Map(sent.map((file) => [file.block, file]))
  const names = sent.filter((file) => file.kind === 'image').map((file) => file.name)
  const files = sent.filter((file) => file.kind !== 'image')
  return {
    text: textOf(content.filter((_, at) => !blocks.has(at))),
    images: imagesOf(entryId, content, address).map((image, at) => ({ ...image, alt: names[at] ?? '' })),
    files: files.map((file) => ({
      key: `${entryId}/${file.block}`,
      name: file.name,
      mimeType: file.mimeType,
      bytes: file.bytes,
      href: file.id ? `/admin/netaclaw/attachments/${encodeURIComponent(file.id)}?download` : null,
      fileOnly: file.kind === 'other',
    })),
  }
}

/** The first words, on one line. */
export function oneLine(text: string, max = 120): string {
  const line = text
    .slice(0, max * 4)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length <= max ? line : `${line.slice(0, max - 1).trimEnd()}…`
}

/** Roughly what is read of Markdown: without its marks and the addresses of its links. */
export function plain(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]\n]*)\]\([^)\n]*\)/g, '$1')
    .replace(/^ {0,3}(#{1,6} |> ?|[-*+] |\d{1,9}[.)] )/gm, '')
    .replace(/\*{1,3}|_{2,3}|~~|`+/g, '')
}

/** A time as the server writes it; null if it is none. */
export function millisOf(timestamp: string): number | null {
  const millis = Date.parse(timestamp)
  return Number.isNaN(millis) ? null : millis
}

/** The agent that an entry switches the session to; null if it does not. */
export function agentSwitch(entry: Extract<Entry, { type: 'custom' }>): string | null {
  if (entry.customType !== 'netaclaw.agent') return null
  const { agentName, agentId } = (entry.data ?? {}) as { agentName?: unknown; agentId?: unknown }
  const name = [agentName, agentId].find((name) => typeof name === 'string' && name !== '')
  return typeof name === 'string' ? name : null
}
