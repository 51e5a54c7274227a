/** The dictionary as the settings page shows it. Pure. */

import type { DictInfo, DictType } from '@/protocol'

export const GROUP = 'netaclaw'
export const CHANNEL = 'auxiliary_channel_id'
export const MODEL = 'auxiliary_model_id'

/** One value that the user changed. */
export interface ValueChange {
  group: string
  name: string
  value: string
  /** What is changed; null if it was never set. */
  entry: DictInfo | null
}

const entryOf = (dictionary: readonly DictType[], group: string, name: string): DictInfo | null =>
  dictionary.find((other) => other.key === group)?.entries.find((entry) => entry.name === name) ?? null

/** Entries that have no field of their own, with their group. */
export function otherEntries(dictionary: readonly DictType[]): { group: DictType; entries: readonly DictInfo[] }[] {
  return dictionary
    .map((group) => ({
      group,
      entries: group.entries.filter(
        (entry) => !(group.key === GROUP && (entry.name === CHANNEL || entry.name === MODEL)),
      ),
    }))
    .filter(({ entries }) => entries.length > 0)
}

/** Values by `group.name`, as far as they differ from what is kept. */
export function changedValues(
  dictionary: readonly DictType[],
  values: Readonly<Record<string, string>>,
): ValueChange[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const dot = key.indexOf('.')
    const [group, name] = [key.slice(0, dot), key.slice(dot + 1)]
    const entry = entryOf(dictionary, group, name)
    return (entry?.value ?? '') === value ? [] : [{ group, name, value, entry }]
  })
}

export function allValues(dictionary: readonly DictType[]): Record<string, string> {
  const values: Record<string, string> = { [`${GROUP}.${CHANNEL}`]: '', [`${GROUP}.${MODEL}`]: '' }
  for (const group of dictionary) for (const entry of group.entries) values[`${group.key}.${entry.name}`] = entry.value
  return values
}
