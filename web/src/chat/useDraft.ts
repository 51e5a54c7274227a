import { computed, onMounted, watch, type ComputedRef, type Ref } from 'vue'
import { draftKey, useDrafts, useSession } from '@/stores'
import { branchAt } from '@/view/branch'
import { useParts } from './useParts'

/** The field that a draft is written in. */
interface DraftField {
  cursor(): number
  place(cursor: number): void
}

/** The key of the draft that belongs to a session and to the branch of it that is shown. */
export function useDraftKey(sessionId: () => string | null): ComputedRef<string> {
  const session = useSession()
  const state = useParts(() => session.state, 'sessionId', 'tree', 'path')
  /** The deepest fork on the path says which branch this is. */
  const branch = computed(() => {
    const known = state.value
    return known ? (known.path.findLast((id) => branchAt(known.tree, id) !== null) ?? null) : null
  })
  return computed(() => draftKey(sessionId(), branch.value))
}

/** The draft under a key, with the cursor where it was. */
export function useDraft(key: Readonly<Ref<string>>, field: Readonly<Ref<DraftField | null>>) {
  const drafts = useDrafts()

  const text = computed({
    get: () => drafts.get(key.value).text,
    set: (text) => drafts.set(key.value, { text, cursor: field.value?.cursor() ?? text.length }),
  })
  watch(key, (key) => field.value?.place(drafts.get(key).cursor), { flush: 'post' })
  onMounted(() => field.value?.place(drafts.get(key.value).cursor))

  function onCursor(cursor: number): void {
    const known = drafts.get(key.value)
    if (known.text !== '' && known.cursor !== cursor) drafts.set(key.value, { cursor })
  }

  return { text, onCursor, clear: () => drafts.clear(key.value) }
}
