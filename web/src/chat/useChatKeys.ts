import { isTyping, onAnyKey } from '@/browser/useKeys'

export interface ChatKeys {
  stop(): void
  isRunning(): boolean
  hasText(): boolean
  /** Asks for Escape a second time before text might be left behind. */
  warnStop(): void
  /** Whether it was heard; else the browser finds in its own way. */
  find(): boolean
  sibling(step: 1 | -1): void
  userMessage(step: 1 | -1): void
  /** Chooses an option of the question that is open; whether there is one. */
  option(index: number): boolean
  tree(): void
  region(step: 1 | -1): void
  focusComposer(): void
}

/** A second Escape within this time counts. */
const TWICE_MS = 1_500

/** Keys of the chat page, beside those of every page (`useShellKeys`). Without a modifier they are off where letters are text. */
export function useChatKeys(keys: ChatKeys): void {
  let escapedAt = -Infinity

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
    if (command || isTyping(event.target)) return false
    if (event.key.toLowerCase() === 't') return did(keys.tree())
    if (/^[1-9]$/.test(event.key) && !event.repeat) return keys.option(Number(event.key) - 1)
    if (event.key === '/') return did(keys.focusComposer())
    return false
  }

  function alt(event: KeyboardEvent): boolean {
    // In text these keys move by words.
    const words = isTyping(event.target) && keys.hasText()
    if (event.key === 'ArrowLeft' && !words) return did(keys.sibling(-1))
    if (event.key === 'ArrowRight' && !words) return did(keys.sibling(1))
    if (event.key === 'ArrowUp') return did(keys.userMessage(-1))
    if (event.key === 'ArrowDown') return did(keys.userMessage(1))
    return false
  }

  function escape(event: KeyboardEvent): boolean {
    if (!keys.isRunning()) return false
    const isSecond = event.timeStamp - escapedAt < TWICE_MS
    escapedAt = event.timeStamp
    if (!keys.hasText() || isSecond) return did(keys.stop())
    return did(keys.warnStop())
  }
}

function did(_: void): true {
  return true
}
