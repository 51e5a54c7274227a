import { onScopeDispose, shallowRef, watch } from 'vue'
import { api } from '@/api'
import type { ModelInfo } from '@/protocol'

/** While a user types, one request is enough. */
const PAUSE_MS = 200

/** What is known about models by their names; names that are new are looked up. */
export function useModelInfos(names: () => readonly string[]) {
  const infos = shallowRef<ReadonlyMap<string, ModelInfo>>(new Map())
  let timer: ReturnType<typeof setTimeout> | undefined
  const missing = () => [...new Set(names())].filter((name) => name !== '' && !infos.value.has(name))

  async function lookUp(): Promise<void> {
    const wanted = missing()
    if (wanted.length === 0) return
    try {
      const { items } = await api.lookUp(wanted)
      infos.value = new Map([...infos.value, ...items.map((info) => [info.name, info] as const)])
    } catch {
      // Without it the page says that nothing is known, and asks again with the next name.
    }
  }

  watch(
    () => missing().join('\n'),
    (wanted, before) => {
      clearTimeout(timer)
      if (wanted === '') return
      if (before === undefined) void lookUp()
      else timer = setTimeout(() => void lookUp(), PAUSE_MS)
    },
    { immediate: true },
  )
  onScopeDispose(() => clearTimeout(timer))
  return infos
}
