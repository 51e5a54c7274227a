/** What two people changed about the same record. Pure. */

/** A field that is not the same in all three. */
export interface Change {
  /** With dots between its parts, such as `modelConfig.model`. */
  path: string
  base: unknown
  mine: unknown
  theirs: unknown
  /** Who changed it; `both` if to different values. */
  by: 'me' | 'them' | 'both'
}

type Fields = Record<string, unknown>

/** Fields that differ, in the order of the record. What both changed alike is no news. */
export function changes(base: object, mine: object, theirs: object, prefix = ''): Change[] {
  const [before, here, there] = [base as Fields, mine as Fields, theirs as Fields]
  return names(before, here, there).flatMap((name) => {
    const path = prefix + name
    const [was, own, other] = [before[name], here[name], there[name]]
    if (isGroup(was) && isGroup(own) && isGroup(other)) return changes(was, own, other, `${path}.`)
    if (isSame(own, other)) return []
    const by = isSame(other, was) ? 'me' : isSame(own, was) ? 'them' : 'both'
    return [{ path, base: was, mine: own, theirs: other, by }]
  })
}

/** Their record with my changes on top; where both changed a field, mine counts. */
export function rebase<Record extends object>(base: Record, mine: Record, theirs: Record): Record {
  const [before, here, there] = [base as Fields, mine as Fields, theirs as Fields]
  const merged: Fields = {}
  for (const name of names(before, here, there)) {
    const [was, own, other] = [before[name], here[name], there[name]]
    const value =
      isGroup(was) && isGroup(own) && isGroup(other) ? rebase(was, own, other) : isSame(own, was) ? other : own
    if (value !== undefined) merged[name] = value
  }
  return merged as Record
}

/** Whether two pieces of plain data say the same; the order of fields does not count. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  }
  if (!isGroup(one) || !isGroup(other)) return false
  return names(one, other).every((name) => isSame(one[name], other[name]))
}

const names = (...groups: Fields[]): string[] => [...new Set(groups.flatMap((group) => Object.keys(group)))]

const isGroup = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
