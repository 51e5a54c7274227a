import type { Env } from 'markdown-it'

/** The parts of a text that are drawn by components of their own, each in an element `data-slot="index"`. */
export type Slot =
  | { kind: 'code'; language: string; text: string; open: boolean }
  | { kind: 'diagram'; text: string; open: boolean }
  | { kind: 'math'; text: string; display: boolean; open: boolean }

/** Definitions such as `[1]: https://…` by name. */
export type References = NonNullable<Env['references']>

/** What markdown-it carries through one render. */
export interface RenderEnv extends Env {
  references: References
  slots: Slot[]
  /** The text may go on: a fence without an end is still being written. */
  growing: boolean
}

export function sameSlot(a: Slot, b: Slot): boolean {
  if (a.kind !== b.kind || a.text !== b.text || a.open !== b.open) return false
  if (a.kind === 'code' && b.kind === 'code') return a.language === b.language
  if (a.kind === 'math' && b.kind === 'math') return a.display === b.display
  return true
}

/** The element a slot is drawn in. */
export function placeSlot(env: RenderEnv, slot: Slot, tag: 'div' | 'span'): string {
  env.slots.push(slot)
  return `<${tag} data-slot="${env.slots.length - 1}"></${tag}>`
}
