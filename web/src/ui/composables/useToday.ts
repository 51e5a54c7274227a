import { onScopeDispose, readonly, ref, type Ref } from 'vue'

/** How soon after midnight the new day is noticed. */
const LOOK_MS = 60_000

const midnight = () => new Date().setHours(0, 0, 0, 0)

/** The first moment of the day that it is. */
export function useToday(): Readonly<Ref<number>> {
  const today = ref(midnight())
  const timer = setInterval(() => (today.value = midnight()), LOOK_MS)
  onScopeDispose(() => clearInterval(timer))
  return readonly(today)
}
