/**
 * Cuts a text into its top-level blocks and renders each for itself, so that a growing text costs only its end.
 * The result depends on the text alone: however it arrived, the finished text gives the same blocks.
 */

import { engine } from './engine'
import { mend } from './mend'
import { sanitizeProse } from './sanitize'
import { sameSlot, type References, type RenderEnv, type Slot } from './slots'

export interface Block {
  key: number
  html: string
  slots: readonly Slot[]
}

interface Settled {
  source: string
  block: Block
}

/** The line on which the next block begins may still change its mind, so the block before it stays open too. */
const OPEN_BLOCKS = 2

export class BlockRenderer {
  private settled: Settled[] = []
  /** How much of the source the settled blocks cover. */
  private settledText = ''
  private open: Block[] = []
  /** Definitions in the settled part, and all that are known now. */
  private settledReferences: References = {}
  private references: References = {}

  /** `definitions` stand in another text that belongs to this one. */
  render(text: string, growing: boolean, definitions = ''): readonly Block[] {
    const source = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
    if (!source.startsWith(this.settledText)) this.forget()

    const references = { ...this.settledReferences }
    cut(definitions, references)
    const pieces = cut(source.slice(this.settledText.length), references)
    if (!sameReferences(references, this.references)) this.refer(references)

    const settling = growing ? Math.max(0, pieces.length - OPEN_BLOCKS) : pieces.length
    for (const piece of pieces.slice(0, settling)) {
      const known = this.open.find((block) => block.key === this.settled.length)
      this.settled.push({ source: piece, block: this.draw(this.settled.length, piece, false, known) })
      this.settledText += piece
      cut(piece, this.settledReferences)
    }

    const first = this.settled.length
    this.open = pieces.slice(settling).map((piece, index) => {
      const key = first + index
      const last = index === pieces.length - settling - 1
      return this.draw(
        key,
        last ? mend(piece) : piece,
        last,
        this.open.find((block) => block.key === key),
      )
    })
    return [...this.settled.map(({ block }) => block), ...this.open]
  }

  /** The known block if nothing of it changed, so that its component stays as it is. */
  private draw(key: number, source: string, growing: boolean, known: Block | undefined): Block {
    const env: RenderEnv = { references: { ...this.references }, slots: [], growing }
    const html = sanitizeProse(engine.render(source, env))
    if (known?.html === html && known.slots.length === env.slots.length) {
      if (known.slots.every((slot, index) => sameSlot(slot, env.slots[index]!))) return known
    }
    return { key, html, slots: env.slots }
  }

  /** A definition such as `[1]: https://…` changes the links above it. */
  private refer(references: References): void {
    this.references = references
    for (const settled of this.settled) {
      if (settled.source.includes('['))
        settled.block = this.draw(settled.block.key, settled.source, false, settled.block)
    }
  }

  private forget(): void {
    this.settled = []
    this.settledText = ''
    this.open = []
    this.settledReferences = {}
    this.references = {}
  }
}

function sameReferences(a: References, b: References): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name]?.href === b[name]?.href)
}

/** The sources of the top-level blocks; together they are the text. */
function cut(source: string, references: References): string[] {
  if (source.trim() === '') return []
  const tokens: ReturnType<typeof engine.parse> = []
  engine.block.parse(source, engine, { references }, tokens)
  const lines = tokens
    .filter((token) => token.level === 0 && token.nesting >= 0 && token.map)
    .map((token) => token.map![0])
  if (lines.length === 0) return []

  const starts: number[] = [0]
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1)
  return lines.map((line, index) => {
    const begin = index === 0 ? 0 : starts[line]!
    const end = index + 1 < lines.length ? starts[lines[index + 1]!]! : source.length
    return source.slice(begin, end)
  })
}

/** Letters of the texts that are remembered. */
const CACHE_MAX = 500_000
const cache = new Map<string, readonly Block[]>()
let cached = 0

/** The blocks of a text that will not change. Rows come and go while scrolling; the newest used are remembered. */
export function renderFinished(text: string, definitions = ''): readonly Block[] {
  if (definitions !== '') return new BlockRenderer().render(text, false, definitions)
  const known = cache.get(text)
  const blocks = known ?? new BlockRenderer().render(text, false)
  if (known) cache.delete(text)
  else cached += text.length
  cache.set(text, blocks)
  for (const [oldest] of cache) {
    if (cached <= CACHE_MAX) break
    cache.delete(oldest)
    cached -= oldest.length
  }
  return blocks
}
