import { onScopeDispose, readonly, ref, type Ref } from 'vue'

/** Whether a media query matches now. */
export function useMedia(query: string): Readonly<Ref<boolean>> {
  const media = matchMedia(query)
  const matches = ref(media.matches)
  const update = () => (matches.value = media.matches)
  media.addEventListener('change', update)
  onScopeDispose(() => media.removeEventListener('change', update))
  return readonly(matches)
}
