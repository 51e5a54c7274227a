import { onScopeDispose, ref, shallowRef } from 'vue'
import type { ProcessLogPage } from '@/protocol'
import { stepOf } from '@/view/process'
import type { StepView } from '@/view/types'

/** Steps that are fetched at a time. */
export const LOG_PAGE = 200
/** Pages that are kept; what was scrolled away from longest is fetched again if it is wanted again. */
export const LOG_PAGES_MAX = 30
/** How soon after the end was asked for it is asked for again, however fast it grows. */
export const LOG_GROWS_MS = 400

/** A log of any length, of which only what is looked at is here. */
export function useProcessLog(read: (page: number, size: number, signal: AbortSignal) => Promise<ProcessLogPage>) {
  const pages = shallowRef<ReadonlyMap<number, readonly StepView[]>>(new Map())
  /** How many steps there are; null until that is known. */
  const total = ref<number | null>(null)
  const isTruncated = ref(false)
  const problem = shallowRef<unknown>(null)
  const asked = new Set<number>()
  let reading = new AbortController()
  /** The steps that are looked at, counted from 0. */
  let seen = { from: 0, to: 0 }

  const pageOf = (at: number): number => Math.floor(at / LOG_PAGE)

  /** Fetches what is missing of these steps. */
  function want(from: number, to: number): void {
    seen = { from, to }
    const last = total.value === null ? 0 : pageOf(Math.max(0, Math.min(to, total.value - 1)))
    for (let page = pageOf(Math.max(0, from)); page <= last; page++)
      if (!pages.value.has(page) && !asked.has(page)) void load(page)
  }

  async function load(page: number): Promise<void> {
    const { signal } = reading
    asked.add(page)
    try {
      const told = await read(page + 1, LOG_PAGE, signal)
      if (signal.aborted) return
      total.value = told.total
      isTruncated.value = told.truncated ?? false
      problem.value = null
      keep(
        page,
        told.items.map((event) => stepOf(event, event.sequence, 1)),
      )
    } catch (error) {
      if (!signal.aborted) problem.value = error
    } finally {
      if (!signal.aborted) asked.delete(page)
    }
  }

  function keep(page: number, steps: readonly StepView[]): void {
    const next = new Map(pages.value).set(page, steps)
    const isSeen = (page: number) => page >= pageOf(seen.from) && page <= pageOf(seen.to)
    for (const old of next.keys()) {
      if (next.size <= LOG_PAGES_MAX) break
      if (old !== page && !isSeen(old)) next.delete(old)
    }
    pages.value = next
  }

  /** From anew, as far as it is looked at: more may have happened. */
  function reload(): void {
    reading.abort()
    reading = new AbortController()
    asked.clear()
    pages.value = new Map()
    problem.value = null
    want(seen.from, seen.to)
  }

  let growing = false
  let grewMeanwhile = false
  let pause: ReturnType<typeof setTimeout> | undefined

  /** More has happened: what follows the last known step is fetched, and what is looked at of it. */
  async function grow(): Promise<void> {
    if (growing || total.value === null) return void (grewMeanwhile = true)
    growing = true
    grewMeanwhile = false
    const { signal } = reading
    await load(pageOf(total.value))
    if (!signal.aborted) want(seen.from, seen.to)
    pause = setTimeout(() => {
      growing = false
      if (grewMeanwhile) void grow()
    }, LOG_GROWS_MS)
  }

  onScopeDispose(() => {
    reading.abort()
    clearTimeout(pause)
  })
  void load(0).then(() => (grewMeanwhile ? grow() : undefined))

  return {
    total,
    isTruncated,
    problem,
    want,
    reload,
    grow,
    /** A step by its place, counted from 0; null if it is not here (yet). */
    at: (index: number): StepView | null => pages.value.get(pageOf(index))?.[index % LOG_PAGE] ?? null,
  }
}
