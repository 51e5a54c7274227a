import { isTyping, onAnyKey } from '@/browser/useKeys'

export interface ShellKeys {
  search(): void
  help(): void
  newSession(): void
  toggleSidebar(): void
}

/** Keys of every page. Behind a dialog none of them is heard. */
export function useShellKeys(keys: ShellKeys): void {
  onAnyKey((event) => {
    const action = actionOf(event)
    if (!action || document.querySelector('dialog[open]')) return
    event.preventDefault()
    keys[action]()
  })
}

/** Letters without Ctrl are off where they would be text. */
function actionOf(event: KeyboardEvent): keyof ShellKeys | null {
  const key = event.key.toLowerCase()
  if ((event.ctrlKey || event.metaKey) && !event.altKey) {
    if (key === 'k' && !event.shiftKey) return 'search'
    if (key === 'o' && event.shiftKey) return 'newSession'
    if (key === 'b' && !event.shiftKey) return 'toggleSidebar'
    return null
  }
  return event.key === '?' && !event.altKey && !isTyping(event.target) ? 'help' : null
}
