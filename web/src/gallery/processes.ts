/** Steps of made-up calls, one for each state worth looking at. */

import type { RuntimeProcessEvent } from '@/protocol'
import { processOf } from '@/session'
import { processView } from '@/view/process'
import type { ProcessView } from '@/view/types'

const begun = Date.now() - 65_000

type Told = Pick<RuntimeProcessEvent, 'message'> & Partial<RuntimeProcessEvent>

/** Steps that follow each other after the given milliseconds each. */
export function process(...steps: readonly (readonly [afterMs: number, step: Told])[]): ProcessView {
  let at = begun
  let sequence = 0
  const events = steps.map(([afterMs, step]) => {
    at += afterMs
    const { payload } = step
    sequence += typeof payload?.['repeatCount'] === 'number' ? payload['repeatCount'] : 1
    return {
      version: 1,
      operationId: 'tool-t1',
      targetType: 'skill',
      source: 'skill',
      status: 'running',
      level: 'info',
      timestamp: new Date(at).toISOString(),
      sequence: step.sequence ?? sequence,
      ...step,
    } satisfies RuntimeProcessEvent
  })
  return processView(processOf({ processEvents: events, processLogRef: { sessionId: 's', operationId: 'tool-t1' } })!)
}

const beginning = [
  [0, { stage: 'extract', status: 'started', message: 'Taking frames from the video' }],
  [
    2400,
    {
      stage: 'extract',
      status: 'completed',
      message: '120 frames',
      detail: '1920×1080, one for every half second',
      percent: 20,
    },
  ],
  [200, { stage: 'detect', message: '检测损伤：第 1 批', current: 1, total: 20, percent: 24 }],
  [5200, { stage: 'detect', message: '检测损伤：第 2 批', current: 2, total: 20, percent: 28 }],
  [
    5100,
    {
      stage: 'detect',
      level: 'warning',
      message: 'A frame could not be read',
      detail: 'frame_0041.png: unexpected end of file',
    },
  ],
] as const

export const processes = {
  bar: process(...beginning, [
    100,
    { stage: 'detect', message: 'Detecting damage in batch 7', current: 7, total: 20, percent: 34.6 },
  ]),
  noBar: process([0, { level: 'warning', message: '正在抽取视频帧，稍候…' }]),
  done: process(
    ...beginning,
    [
      4100,
      {
        stage: 'ground',
        message: 'Comparing candidates',
        payload: { repeatCount: 12 },
        current: 12,
        total: 12,
        percent: 80,
      },
    ],
    [
      900,
      {
        stage: 'select',
        level: 'debug',
        message: 'score 0.93 for frame 17, the best of those that show the left front door from the outside',
      },
    ],
    [30, { stage: 'select', status: 'skipped', message: 'No second view of the windscreen' }],
    [1200, { stage: 'report', status: 'completed', message: '报告已写好，附 3 张图片', percent: 100 }],
  ),
  failed: process(
    [0, { stage: 'scan', message: 'Reading files', sequence: 1 }],
    [61_000, { stage: 'hash', message: 'Reading files', current: 4800, total: 90_000, percent: 5, sequence: 960 }],
    [
      3000,
      {
        source: 'runtime',
        status: 'failed',
        level: 'error',
        message: 'Stopped after 10 minutes',
        detail: 'The skill had not ended by then.',
        sequence: 961,
      },
    ],
  ),
}
