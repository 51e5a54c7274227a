import type { Entry } from '@/protocol'
import { agentSwitch, millisOf, oneLine, plain, textOf } from './content'
import type { TreeNode } from './tree'

/** What the tree shows of a loaded entry. */
export function nodeOf(entry: Entry, label: string | null): TreeNode {
  return { id: entry.id, label, at: millisOf(entry.timestamp), ...roleAndText(entry) }
}

function roleAndText(entry: Entry): Pick<TreeNode, 'role' | 'text'> {
  switch (entry.type) {
    case 'message':
      return ofMessage(entry.message)
    case 'compaction':
      return { role: 'compaction', text: firstWords(entry.summary) }
    case 'branch_summary':
      return { role: 'branchSummary', text: firstWords(entry.summary) }
    case 'model_change':
      return { role: 'notice', text: entry.modelId }
    case 'thinking_level_change':
      return { role: 'notice', text: entry.thinkingLevel }
    case 'custom': {
      const agent = agentSwitch(entry)
      return agent === null ? { role: 'custom', text: entry.customType } : { role: 'notice', text: agent }
    }
    case 'custom_message':
      return { role: 'custom', text: entry.customType }
    default:
      return { role: 'custom', text: entry.type }
  }
}

function ofMessage(message: Extract<Entry, { type: 'message' }>['message']): Pick<TreeNode, 'role' | 'text'> {
  switch (message.role) {
    case 'user':
      return { role: 'user', text: oneLine(textOf(message.content)) }
    case 'assistant': {
      const calls = message.content.flatMap((block) => (block.type === 'toolCall' ? [block.name] : []))
      const text = firstWords(textOf(message.content))
      return { role: text === '' && calls.length > 0 ? 'tool' : 'assistant', text: text || calls.join(', ') }
    }
    case 'toolResult':
      return { role: 'tool', text: oneLine(`${message.toolName} ${textOf(message.content)}`) }
    case 'bashExecution':
      return { role: 'tool', text: oneLine(message.command) }
    default:
      return { role: 'custom', text: oneLine(textOf(message.content)) }
  }
}

/** Of Markdown, as it is read; long ones are not looked at as a whole. */
const firstWords = (markdown: string): string => oneLine(plain(markdown.slice(0, 1_000)))
