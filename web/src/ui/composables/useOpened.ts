import { computed, inject, provide, reactive, ref, type InjectionKey, type Ref } from 'vue'

/** What the reader has opened and closed, by key. */
export type Opened = Map<string, boolean>

const KEY: InjectionKey<Opened> = Symbol('opened')

/** Keeps the choices of everything below: rows come and go as the view moves and a run ends, and choices stay. */
export function provideOpened(): Opened {
  const opened: Opened = reactive(new Map())
  provide(KEY, opened)
  return opened
}

/** All choices, for what depends on those of others; empty without a provider. */
export function useAllOpened(): ReadonlyMap<string, boolean> {
  return inject(KEY, NONE)
}

/** Whether something is open; null until the user chooses. Without a key or a provider, the component keeps the choice. */
export function useOpened(key: () => string | undefined): Ref<boolean | null> {
  const kept = inject(KEY, null)
  const own = ref<boolean | null>(null)
  return computed({
    get() {
      const name = key()
      return kept && name !== undefined ? (kept.get(name) ?? null) : own.value
    },
    set(open) {
      const name = key()
      if (!kept || name === undefined) own.value = open
      else if (open === null) kept.delete(name)
      else kept.set(name, open)
    },
  })
}

const NONE: ReadonlyMap<string, boolean> = new Map()
