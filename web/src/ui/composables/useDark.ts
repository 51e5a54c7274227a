import { onScopeDispose, readonly, ref, type Ref } from 'vue'

/** Whether the page is dark now: by its own choice or the system's. */
export function useDark(): Readonly<Ref<boolean>> {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const read = () => {
    const chosen = document.documentElement.dataset['theme']
    return chosen === 'dark' || (chosen !== 'light' && system.matches)
  }
  const dark = ref(read())
  const update = () => (dark.value = read())
  const observer = new MutationObserver(update)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  system.addEventListener('change', update)
  onScopeDispose(() => {
    observer.disconnect()
    system.removeEventListener('change', update)
  })
  return readonly(dark)
}
