// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { VueWrapper } from '@vue/test-utils'
import { fromSnapshot, processOf, type SessionState, type ToolState } from '@/session'
import { RECORDINGS } from '@/session/recordings'
import { show } from '@/ui/testing'
import ChatAnnouncer from './ChatAnnouncer.vue'

const [, recording] = RECORDINGS.find(([name]) => name === 'tools')!
const base = fromSnapshot(recording.closed, null, 0)

/** The session while a skill is in a stage. */
function inStage(stage: string, sequence: number): SessionState {
  const event = {
    version: 1,
    operationId: 'o',
    targetType: 'skill',
    source: 'skill',
    status: 'running',
    level: 'info',
    message: 'm',
    timestamp: '',
    stage,
    sequence,
  }
  const tool: ToolState = {
    toolCallId: 't',
    entryId: 'e',
    runId: 'r',
    name: 'execute_skill',
    label: '',
    args: {},
    route: 'main',
    blockedReason: null,
    policySources: [],
    allowedBy: [],
    startedAt: 0,
    output: { parts: [], end: '', length: 0 } as unknown as ToolState['output'],
    process: processOf({ processEvents: [event] }),
    result: null,
  }
  return { ...base, run: { ...base.run, status: 'running' }, tools: new Map([['t', tool]]) }
}

describe('the stages of long work', () => {
  let view: VueWrapper
  const said = () => view.get('[role=status]').text()
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
  afterEach(() => {
    view.unmount()
    vi.useRealTimers()
  })

  test('are announced at most every few seconds, and then only the latest', async () => {
    view = show(ChatAnnouncer, { state: base })
    await view.setProps({ state: inStage('scan', 1) })
    expect(said()).toBe('Run skill: scan')
    for (const [at, stage] of ['hash', 'compare', 'report'].entries())
      await view.setProps({ state: inStage(stage, at + 2) })
    await vi.advanceTimersByTimeAsync(4_000)
    expect(said()).toBe('Run skill: scan')
    await vi.advanceTimersByTimeAsync(1_500)
    expect(said()).toBe('Run skill: report')
  })

  test('further steps of the same stage say nothing', async () => {
    view = show(ChatAnnouncer, { state: inStage('scan', 1) })
    await view.setProps({ state: inStage('hash', 2) })
    expect(said()).toBe('Run skill: hash')
    const spoken = vi.fn()
    new MutationObserver(spoken).observe(view.get('[role=status]').element, {
      childList: true,
      characterData: true,
      subtree: true,
    })
    for (let step = 3; step < 300; step++) await view.setProps({ state: inStage('hash', step) })
    await vi.advanceTimersByTimeAsync(20_000)
    expect(spoken).not.toHaveBeenCalled()
  })
})
