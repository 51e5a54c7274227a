/** What stands around the transcript: the run, the queue, the questions, the numbers. */

import type { ContextBreakdown, TokenTotals } from '@/protocol'
import type { AskedQuestion, SessionState } from '@/session'
import { troubleWords, type TroubleLanguage } from './trouble'
import type { BreakdownView, QuestionView, QueueRow, QueueView, RunView, TokenTotalsView, TokenView } from './types'

export function runView(state: SessionState, language: TroubleLanguage): RunView {
  const { retry } = state.run
  return {
    state: state.run.status,
    phase: state.run.phase ?? null,
    since: state.run.since,
    startedAt: state.run.startedAt ?? null,
    waitedMs: state.run.waitedMs,
    lastActivity: state.lastActivity,
    retry: retry
      ? {
          words: troubleWords(retry.trouble, language)!,
          at: retry.at ?? null,
          fallback: retry.fallback ?? null,
          said: retry.trouble.said ?? null,
        }
      : null,
  }
}

/** What waits on the server, and behind it what is on its way there. */
export function queueView(state: SessionState, pending: readonly QueueRow[]): QueueView {
  const waiting = state.queue.items.map((item) => ({
    key: item.itemId,
    itemId: item.itemId,
    text: item.content,
    attachmentNames: (item.attachments ?? []).map((file) => file.name),
    mode: item.mode,
    queuedAt: item.queuedAt,
    pending: false,
    unsupported: item.unsupported ?? false,
  }))
  return { rows: [...waiting, ...pending], held: state.queue.held }
}

/** What this tab knows about its own answer to a question. */
export interface OwnAnswer {
  state: 'answering' | 'failed'
  answer: string
  problem: string | null
}

export function questionViews(
  questions: readonly AskedQuestion[],
  own: ReadonlyMap<string, OwnAnswer>,
  now: number,
): readonly QuestionView[] {
  return questions.map((question) => {
    const answer = own.get(question.requestId)
    return {
      id: question.requestId,
      toolCallId: question.toolCallId,
      question: question.question,
      options: question.options,
      multi: question.multi,
      expiresAt: question.expiresAt ?? null,
      state: questionState(question, answer, now),
      answer: question.closed ? question.closed.answer.join('\n') || null : (answer?.answer ?? null),
      problem: question.closed ? null : (answer?.problem ?? null),
    }
  })
}

const CLOSED = { answered: 'answered', dismissed: 'readonly', timed_out: 'expired' } as const

/** The first answer of any client counts; the server sends it to all. */
function questionState(question: AskedQuestion, own: OwnAnswer | undefined, now: number): QuestionView['state'] {
  if (question.closed) return CLOSED[question.closed.outcome]
  if (own?.state === 'answering') return 'answering'
  if (question.readOnly) return 'readonly'
  return question.expiresAt && question.expiresAt <= now ? 'expired' : 'open'
}

/** Below this part of the threshold the meter is calm. */
const NEAR = 0.75
/** Without a threshold, this many percent count as one. */
const FULL_PERCENT = 90

export function tokenView(state: SessionState): TokenView {
  const { context, current, branch, lastCall, auxiliary } = state.tokens
  const threshold = context.thresholdPercent ?? null
  const limit = threshold && threshold > 0 ? threshold : FULL_PERCENT
  return {
    used: context.usedTokens,
    max: context.maxTokens,
    percent: context.percent,
    estimated: context.estimated,
    threshold,
    level: context.percent > limit ? 'over' : context.percent >= limit * NEAR ? 'near' : 'calm',
    windowSource: context.windowSource ?? null,
    session: spent(current),
    branch: spent(branch),
    lastAnswer: lastCall ? spent(lastCall) : null,
    summaries: auxiliary.apiCalls > 0 ? spent(auxiliary) : null,
  }
}

function spent({ inputTokens, outputTokens, totalTokens, apiCalls, cost }: TokenTotals): TokenTotalsView {
  return { inputTokens, outputTokens, totalTokens, calls: apiCalls, cost: cost ?? null }
}

/** Every part that takes something, with its share of all that is there. */
export function breakdownView({ parts }: ContextBreakdown): BreakdownView {
  const whole = parts.reduce((sum, part) => sum + part.tokens, 0)
  return parts
    .filter((part) => part.tokens > 0)
    .map(({ part, tokens }) => ({ part, tokens, percent: whole === 0 ? 0 : (tokens / whole) * 100 }))
}
