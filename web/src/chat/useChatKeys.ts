import { isTyping, onAnyKey } from '@/browser/useKeys'

export interface ChatKeys {
  stop(): void
  isRunning(): boolean
  hasText(): boolean
  /** Leaves the field; the run goes on. Says how to stop it. */
  leave(): void
  /** Whether it was heard; else the browser finds in its own way. */
  find(): boolean
  sibling(step: 1 | -1): void
  userMessage(step: 1 | -1): void
  /** Presses a numbered button of an approval request; whether there is one. */
  approval(number: number): boolean
  /** Whether the focus is in the field for messages. */
  isComposing(): boolean
  /** Chooses an option of the question that is open; whether there is one. */
  option(index: number): boolean
  tree(): void
  region(step: 1 | -1): void
  focusComposer(): void
}

/** Keys of the chat page, besides those of every page (`useShellKeys`). Without a modifier they are off where letters are text. */
export function useChatKeys(keys: ChatKeys): void {
  onAnyKey((event) => {
    if (handled(event)) event.preventDefault()
  })

  function handled(event: KeyboardEvent): boolean {
    const command = (event.ctrlKey || event.metaKey) && !event.altKey
    if (event.key === 'Escape') return escape(event)
    if (event.key === 'F6') return did(keys.region(event.shiftKey ? -1 : 1))
    if (command && event.key.toLowerCase() === 'f' && !event.shiftKey) return keys.find()
    if (command && event.key === '.') return keys.isRunning() && did(keys.stop())
    if (event.altKey && !event.ctrlKey && !event.metaKey) return alt(event)
    if (command) return false
    const number = digit(event)
    const isFree = !isTyping(event.target) || (keys.isComposing() && !keys.hasText())
    if (number !== null && isFree && keys.approval(number)) return true
    if (isTyping(event.target)) return false
    if (event.key.toLowerCase() === 't') return did(keys.tree())
    if (number !== null) return keys.option(number - 1)
    if (event.key === '/') return did(keys.focusComposer())
    return false
  }

  function alt(event: KeyboardEvent): boolean {
    const number = digit(event)
    if (number !== null) return keys.approval(number)
    // In text these keys move by words.
    const words = isTyping(event.target) && keys.hasText()
    if (event.key === 'ArrowLeft' && !words) return did(keys.sibling(-1))
    if (event.key === 'ArrowRight' && !words) return did(keys.sibling(1))
    if (event.key === 'ArrowUp') return did(keys.userMessage(-1))
    if (event.key === 'ArrowDown') return did(keys.userMessage(1))
    return false
  }

  function escape(event: KeyboardEvent): boolean {
    return keys.isRunning() && !event.repeat && did(keys.leave())
  }
}

/** A key that is held down counts once. With Alt some keyboards write other signs. */
function digit(event: KeyboardEvent): number | null {
  if (event.repeat || event.shiftKey) return null
  const found = /^(?:Digit|Numpad)?([1-9])$/.exec(event.altKey ? event.code : event.key)
  return found ? Number(found[1]) : null
}

function did(_: void): true {
  return true
}
