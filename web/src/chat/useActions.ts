import { ElMessage } from 'element-plus'
import 'element-plus/es/components/message/style/css'
import { shallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import type { ApprovalGrant, Attachment, Chat, ChatMode, Commands, ThinkingLevel } from '@/protocol'
import { LinkError } from '@/socket'
import { useCatalogue, useConnection, useDrafts, useOutbox, useSession } from '@/stores'
import type { OwnDecision } from '@/view/approval'
import { sentAs } from '@/view/content'
import type { OwnAnswer } from '@/view/sessionPanels'
import type { ApprovalChoice } from '@/view/types'

/** What a reader of a session can do to it. Every change is asked of the server, which tells all. */
export function useActions() {
  const { t } = useI18n()
  const router = useRouter()
  const connection = useConnection()
  const session = useSession()
  const outbox = useOutbox()
  const drafts = useDrafts()
  const catalogue = useCatalogue()
  const answers = shallowRef<ReadonlyMap<string, OwnAnswer>>(new Map())
  const decisions = shallowRef<ReadonlyMap<string, OwnDecision>>(new Map())

  function send(content: string, attachments: readonly Attachment[], mode: ChatMode, draftKey: string): string {
    const place = session.id === null ? newPlace() : { sessionId: session.id, ...chosenAgent() }
    return outbox.send({ ...place, content, attachments: [...attachments], mode }, draftKey)
  }

  /** Who answers a new session, as it was chosen. */
  function newPlace(): Pick<Chat, 'agentId' | 'model' | 'thinkingLevel'> {
    const agent = catalogue.agentForNew
    return { ...(agent ? { agentId: agent.id } : {}), ...catalogue.takeForNew() }
  }

  /** The agent that was chosen for the next message of a session. */
  function chosenAgent(): Pick<Chat, 'agentId'> {
    return session.nextAgentId === null ? {} : { agentId: session.nextAgentId }
  }

  /** Sends a changed message as a sibling of the old one. */
  async function edit(entryId: string, content: string, draftKey: string): Promise<void> {
    const { state } = session
    const entry = state?.entries.get(entryId)
    if (!state || !entry) return
    const message = { sessionId: state.sessionId, content: sentAs(entry, content), ...chosenAgent() }
    const parent = state.tree.parentOf.get(entryId)
    if (parent !== undefined && state.entries.get(parent)) {
      outbox.send({ ...message, leafEntryId: parent, mode: 'queue' }, draftKey)
      return
    }
    // Before the first entry there is none to name: the leaf is moved there, and the message follows.
    if (await ask('switch_leaf', { sessionId: state.sessionId, leafEntryId: entry.parentId })) {
      outbox.send({ ...message, mode: 'queue' }, draftKey)
    }
  }

  /** Asks for another answer to the message that an entry answers. */
  async function retry(entryId: string | null): Promise<void> {
    const { state } = session
    if (!state) return
    const isUser = (id: string) => {
      const entry = state.entries.get(id)
      return entry?.type === 'message' && entry.message.role === 'user'
    }
    const path = entryId === null ? state.path : state.path.slice(0, state.path.indexOf(entryId) + 1)
    const asked = path.findLast(isUser)
    if (asked) await inSession('retry', { entryId: asked, requestId: crypto.randomUUID() })
  }

  /** Asks, and tells the user if it did not work. */
  async function ask<Name extends keyof Commands>(
    name: Name,
    payload: Commands[Name]['ask'],
  ): Promise<Commands[Name]['answer'] | null> {
    try {
      return await connection.request(name, payload)
    } catch (error) {
      ElMessage.error({ message: problemText(error), grouping: true })
      return null
    }
  }

  function problemText(error: unknown): string {
    if (error instanceof LinkError && (error.code === 'disconnected' || error.code === 'timeout'))
      return t('chat.notConnected')
    if (error instanceof LinkError && error.code === 'session_busy') return t('chat.busy')
    return error instanceof Error ? error.message : String(error)
  }

  /** The same with the session that is open. */
  async function inSession<Name extends keyof Commands>(
    name: Name,
    payload: WithoutSession<Commands[Name]['ask']>,
  ): Promise<Commands[Name]['answer'] | null> {
    if (session.id === null) return null
    return await ask(name, { sessionId: session.id, ...payload } as Commands[Name]['ask'])
  }

  async function fork(entryId: string): Promise<void> {
    const forked = await inSession('fork', { entryId, requestId: crypto.randomUUID() })
    if (forked) await router.push(`/s/${encodeURIComponent(forked.sessionId)}`)
  }

  async function answer(questionId: string, text: string): Promise<void> {
    const set = (own: OwnAnswer | null) => {
      const next = new Map(answers.value)
      if (own) next.set(questionId, own)
      else next.delete(questionId)
      answers.value = next
    }
    if (session.id === null) return
    set({ state: 'answering', answer: text, problem: null })
    try {
      await connection.request('clarify_response', { sessionId: session.id, requestId: questionId, answer: text })
      set(null)
    } catch (error) {
      // Another client answered first; the event has its answer.
      if (error instanceof LinkError && error.code === 'conflict') set(null)
      else set({ state: 'failed', answer: text, problem: problemText(error) })
    }
  }

  /** Allows or denies a call. The first decision of any client counts; the server sends it to all. */
  async function decide(
    approvalId: string,
    choice: ApprovalChoice,
    reason: string,
    grant: ApprovalGrant | null = null,
  ): Promise<void> {
    const set = (own: OwnDecision | null) => {
      const next = new Map(decisions.value)
      if (own) next.set(approvalId, own)
      else next.delete(approvalId)
      decisions.value = next
    }
    if (session.id === null) return
    set({ isAnswering: true, problem: null })
    try {
      await connection.request('approval_response', {
        sessionId: session.id,
        approvalId,
        decision: choice === 'deny' ? 'deny' : 'allow',
        remember: choice === 'session',
        grant,
        reason: reason || null,
      })
      set(null)
    } catch (error) {
      const isDecided = error instanceof LinkError && (error.code === 'conflict' || error.code === 'not_found')
      set({ isAnswering: false, problem: isDecided ? t('ui.approval.elsewhere') : problemText(error) })
    }
  }

  /** Compacts older messages into a summary. Events report the result. */
  async function compact(focus = ''): Promise<void> {
    const asked = await inSession('compact', {
      requestId: crypto.randomUUID(),
      ...(focus === '' ? {} : { instructions: focus }),
    })
    if (asked && asked.status !== 'started')
      ElMessage.info({ message: t(`chat.compact.${asked.status}`), grouping: true })
  }

  /** Puts the queue into a new order, one move at a time. */
  async function reorder(itemIds: readonly string[]): Promise<void> {
    const order = (session.state?.queue.items ?? []).map((item) => item.itemId)
    for (const [position, itemId] of itemIds.entries()) {
      if (order[position] === itemId) continue
      order.splice(order.indexOf(itemId), 1)
      order.splice(position, 0, itemId)
      if (!(await inSession('queue_edit', { action: 'move', itemId, position }))) return
    }
  }

  return {
    answers,
    decisions,
    send,
    edit,
    retry,
    fork,
    answer,
    decide,
    reorder,
    resend: (requestId: string) => outbox.retry(requestId),
    discard(requestId: string): void {
      const item = outbox.take(requestId)
      if (item) drafts.giveBack(item.draftKey, item.chat.content)
    },
    stop: () => inSession('stop', {}),
    compact,
    /** Shows a branch from where it was left. */
    switchBranch: (entryId: string) => inSession('switch_leaf', { leafEntryId: entryId, follow: true }),
    /** The same exactly there, with a summary of what is left behind. It begins at once and ends by events. */
    leaveFor: (entryId: string) =>
      inSession('switch_leaf', { leafEntryId: entryId, summarize: true, requestId: crypto.randomUUID() }),
    /** All edits in the workspace run without a question, or no longer. */
    acceptEdits: (enabled: boolean) => inSession('accept_edits', { enabled }),
    revokeApproval: (approvalId: string) => inSession('revoke_approval', { approvalId }),
    dismissCompaction: () => inSession('dismiss_compaction', {}),
    switchTo: (entryId: string) => inSession('switch_leaf', { leafEntryId: entryId }),
    label: (entryId: string, label: string) => inSession('label', { entryId, label }),
    rename: (title: string) => inSession('rename', { title }),
    setThinking: (level: ThinkingLevel) => inSession('set_thinking_level', { level }),
    setModel: (channelId: string, modelId: string) => inSession('set_model', { channelId, modelId }),
    queueEdit: (itemId: string, content: string) => inSession('queue_edit', { action: 'edit', itemId, content }),
    queueRemove: (itemId: string) => inSession('queue_edit', { action: 'remove', itemId }),
    queueResume: () => inSession('queue_edit', { action: 'resume' }),
  }
}

/** Of each of several possibilities. */
type WithoutSession<Ask> = Ask extends unknown ? Omit<Ask, 'sessionId'> : never
