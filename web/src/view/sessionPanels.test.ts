import { describe, expect, test } from 'vitest'
import type { ServerEvent } from '@/protocol'
import { fromSnapshot, reduce, type SessionState } from '@/session'
import { RECORDINGS } from '@/session/recordings'
import { questionViews, type OwnAnswer } from './sessionPanels'

const base = fromSnapshot(RECORDINGS.find(([name]) => name === 'plain')![1].closed, null, 0)

function hear(state: SessionState, type: string, data: unknown): SessionState {
  return reduce(state, {
    type,
    data,
    sessionId: state.sessionId,
    epoch: state.epoch,
    seq: state.seq + 1,
    ts: 1,
  } as unknown as ServerEvent)
}

describe('questions', () => {
  const asked = {
    requestId: 'q',
    runId: 'r',
    toolCallId: 'c',
    question: 'Which?',
    options: ['red', 'blue'],
    multi: false,
    readOnly: false,
  }
  const open = hear(base, 'clarify_request', asked)
  const views = (state: SessionState, own: [string, OwnAnswer][] = []) =>
    questionViews(state.questions, new Map(own), 0)
  const closed = (outcome: string, answer: string[] = []) =>
    hear(open, 'clarify_answered', { requestId: 'q', toolCallId: 'c', outcome, answer })

  test('one that was answered elsewhere says so, until its call has a result', () => {
    expect(views(open)).toMatchObject([{ state: 'open', answer: null }])
    const answered = closed('answered', ['red', 'and more'])
    expect(views(answered)).toMatchObject([{ state: 'answered', answer: 'red\nand more', problem: null }])
    const done = {
      runId: 'r',
      toolCallId: 'c',
      toolName: 'clarify',
      isError: false,
      content: [],
      durationMs: 1,
      resultEntryId: 'e',
    }
    expect(views(hear(answered, 'tool_call_completed', done))).toEqual([])
  })

  test('who was second sees what the first has said, and no failure', () => {
    const own: [string, OwnAnswer][] = [['q', { state: 'failed', answer: 'blue', problem: 'too late' }]]
    expect(views(open, own)).toMatchObject([{ answer: 'blue', problem: 'too late' }])
    expect(views(closed('answered', ['red']), own)).toMatchObject([{ state: 'answered', answer: 'red', problem: null }])
  })

  test('one that was closed or has expired can be answered no more', () => {
    expect(views(closed('dismissed'))).toMatchObject([{ state: 'readonly' }])
    expect(views(closed('timed_out'))).toMatchObject([{ state: 'expired' }])
  })
})
