import { onScopeDispose } from 'vue'

/** Listens to keys anywhere in the page, unless an inner element has handled them. */
export function onAnyKey(hear: (event: KeyboardEvent) => void): void {
  const listener = (event: KeyboardEvent) => {
    // An input method is at work: its keys are not ours.
    if (!event.defaultPrevented && !event.isComposing) hear(event)
  }
  window.addEventListener('keydown', listener)
  onScopeDispose(() => window.removeEventListener('keydown', listener))
}

export function onKeyStroke(key: string, hear: (event: KeyboardEvent) => void): void {
  onAnyKey((event) => event.key === key && hear(event))
}

/** Whether letters typed now would be text. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target.matches('input, textarea, select, [role=textbox]')
}
