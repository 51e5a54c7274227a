/** Entries that are folded into the base at a time; copying them is what an addition costs. */
const OVERLAY_MAX = 256

/**
 * A map that never changes: adding gives a new one that shares almost everything with the old
 * one, so that a session of ten thousand entries is not copied for each new one.
 */
export class PersistentMap<Value> {
  private constructor(
    private readonly base: ReadonlyMap<string, Value>,
    private readonly overlay: ReadonlyMap<string, Value>,
  ) {}

  static from<Value>(items: Iterable<readonly [string, Value]>): PersistentMap<Value> {
    return new PersistentMap(new Map(items), new Map<string, Value>())
  }

  static empty<Value>(): PersistentMap<Value> {
    return PersistentMap.from<Value>([])
  }

  get(key: string): Value | undefined {
    return this.overlay.get(key) ?? this.base.get(key)
  }

  has(key: string): boolean {
    return this.overlay.has(key) || this.base.has(key)
  }

  with(key: string, value: Value): PersistentMap<Value> {
    return this.withAll([[key, value]])
  }

  withAll(items: Iterable<readonly [string, Value]>): PersistentMap<Value> {
    const overlay = new Map(this.overlay)
    for (const [key, value] of items) overlay.set(key, value)
    if (overlay.size <= OVERLAY_MAX) return new PersistentMap(this.base, overlay)
    return new PersistentMap(new Map([...this.base, ...overlay]), new Map<string, Value>())
  }

  *[Symbol.iterator](): IterableIterator<[string, Value]> {
    for (const [key, value] of this.base) yield [key, this.overlay.get(key) ?? value]
    for (const item of this.overlay) if (!this.base.has(item[0])) yield item
  }
}
