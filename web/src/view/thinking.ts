import type { SessionState } from '@/session'

/** Whether the model in use thinks although the level is “off”: some cannot do without. Pure. */
export function thinksThoughOff(state: SessionState): boolean {
  if (state.thinkingLevel !== 'off') return false
  const { streaming, path, entries } = state
  let isAnswered = false
  for (let at = path.length - 1; at >= 0; at--) {
    const id = path[at]!
    if (id === streaming?.parentId && streaming.parts.some((part) => part.kind === 'thinking')) return true
    const entry = entries.get(id)
    // What was answered before a change was answered under other settings.
    if (!entry || entry.type === 'thinking_level_change' || entry.type === 'model_change') return false
    if (entry.type !== 'message') continue
    const { message } = entry
    if (message.role === 'user' && isAnswered) return false
    if (message.role !== 'assistant') continue
    if (message.content.some((block) => block.type === 'thinking')) return true
    isAnswered = true
  }
  return false
}
