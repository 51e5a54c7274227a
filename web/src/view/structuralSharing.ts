/**
 * The new value, with everything that equals the old one taken from the old one: what is the same
 * object has not changed, and is not drawn again.
 *
 * `opaque` fields are compared as objects only. They hold foreign data of any size, which comes
 * from immutable entries anyway.
 */
export function reuseUnchanged<Value>(before: unknown, after: Value, opaque: ReadonlySet<string>): Value {
  if (Object.is(before, after)) return after
  if (Array.isArray(after)) return shareList(before, after, opaque) as Value
  if (isPlain(after) && isPlain(before)) return shareObject(before, after, opaque) as Value
  return after
}

function shareList(before: unknown, after: readonly unknown[], opaque: ReadonlySet<string>): readonly unknown[] {
  if (!Array.isArray(before)) return after
  let same = before.length === after.length
  const shared = after.map((item, at) => {
    const kept = reuseUnchanged(before[at], item, opaque)
    same &&= kept === before[at]
    return kept
  })
  return same ? before : shared
}

function shareObject(before: Plain, after: Plain, opaque: ReadonlySet<string>): Plain {
  const keys = Object.keys(after)
  let same = keys.length === Object.keys(before).length
  const shared: Plain = {}
  for (const key of keys) {
    const kept = opaque.has(key) ? after[key] : reuseUnchanged(before[key], after[key], opaque)
    shared[key] = kept
    same &&= Object.is(kept, before[key])
  }
  return same ? before : shared
}

type Plain = Record<string, unknown>

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
