import type { EntryLabel } from '@/protocol'

/** What the labels say, by the ids of their entries. */
export function labelTexts(labels: Readonly<Partial<Record<string, EntryLabel>>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).flatMap(([id, set]) => (set ? [[id, set.label]] : [])))
}
