import { onScopeDispose, ref, type Ref } from 'vue'

/** Copies text and says so for a moment. */
export function useCopy(): { copied: Ref<boolean>; copy: (text: string) => Promise<void> } {
  const copied = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  onScopeDispose(() => clearTimeout(timer))

  async function copy(text: string): Promise<void> {
    copied.value = await writeClipboard(text)
    clearTimeout(timer)
    timer = setTimeout(() => (copied.value = false), 1500)
  }
  return { copied, copy }
}

/** Browsers offer the clipboard to secure pages only; a server in the local network is often not one. */
async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'nc-visually-hidden'
    const focused = document.activeElement
    document.body.append(field)
    field.select()
    const done = document.execCommand('copy')
    field.remove()
    if (focused instanceof HTMLElement) focused.focus()
    return done
  }
}
