import { onScopeDispose, readonly, ref, watch, type Ref } from 'vue'

/** The time, once a second and only while `active` is true: for clocks that run on the page. */
export function useNow(active: () => boolean): Readonly<Ref<number>> {
  const now = ref(Date.now())
  let timer: ReturnType<typeof setInterval> | undefined
  watch(
    active,
    (isActive) => {
      clearInterval(timer)
      now.value = Date.now()
      if (isActive) timer = setInterval(() => (now.value = Date.now()), 1000)
    },
    { immediate: true },
  )
  onScopeDispose(() => clearInterval(timer))
  return readonly(now)
}
