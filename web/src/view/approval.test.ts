import { describe, expect, test } from 'vitest'
import type { ApprovalQuestion } from '@/protocol'
import { approvalViews } from './approval'

const asked = (args: unknown): ApprovalQuestion => ({
  approvalId: 'a',
  runId: 'r',
  toolCallId: 'c',
  toolName: 'tool',
  toolLabel: { zh: '工具', en: 'Tool' },
  risk: 'exec',
  args: args as ApprovalQuestion['args'],
  reason: '',
  hash: 'h',
  askedAt: 1,
})
const view = (args: unknown) => approvalViews([asked(args)], new Map())[0]!
const signs = (args: unknown) => {
  const { what } = view(args)
  if (what?.kind !== 'change') return what
  const sign = { added: '+', removed: '-', same: ' ', gap: '~' }
  return [what.diff.path, ...what.diff.lines.map((line) => sign[line.kind] + line.text)]
}

describe('what an approval request shows', () => {
  test('is a command, with what else it is given', () => {
    expect(view({ command: 'rm -rf x', timeout: 5 })).toMatchObject({
      what: { kind: 'command', text: 'rm -rf x' },
      args: '{\n  "timeout": 5\n}',
    })
    expect(view({ command: 'ls' }).args).toBe('')
  })

  test('is a change of a file', () => {
    expect(signs({ path: 'a', oldText: 'x\ny', newText: 'z' })).toEqual(['a', '-x', '-y', '+z'])
    expect(
      signs({
        path: 'a',
        edits: [
          { oldText: 'x', newText: '' },
          { oldText: 'y', newText: 'z' },
        ],
      }),
    ).toEqual(['a', '-x', '~', '-y', '+z'])
    expect(signs({ path: 'a', edits: [{ old_text: 'x', new_text: 'z', replace_all: true }] })).toEqual([
      'a',
      '-x',
      '+z',
    ])
    expect(view({ path: 'a', edits: [{ old_text: 'x', new_text: 'z', replace_all: true }] }).args).toContain(
      'replace_all',
    )
    expect(view({ path: 'a', edits: [{ old_text: 'x', new_text: 'z' }] }).args).toBe('')
    expect(signs({ path: 'a', content: 'x\ny\n' })).toEqual(['a', '+x', '+y'])
    expect(view({ path: 'a', content: 'x', mode: 'append' }).args).toContain('append')
  })

  test('is never hidden, whatever its form', () => {
    for (const args of [
      { url: 'http://x' },
      { path: 'a' },
      [1, 2],
      'text',
      { path: 'a', edits: [{ oldText: 'x' }] },
      { path: 'a', edits: [] },
      {},
    ]) {
      const { what, args: text } = view(args)
      expect([what, text]).toEqual([null, JSON.stringify(args, null, 2)])
    }
  })

  test('says what the session has read, and where the call goes', () => {
    expect(view({}).foreign).toBeNull()
    const sources = [{ kind: 'web' as const, name: 'a.example' }]
    const call = { ...asked({ url: 'x' }), foreign: { sources, destination: 'https://b.example/?q=1' } }
    expect(approvalViews([call], new Map())[0]?.foreign).toEqual({ sources, destination: 'https://b.example/?q=1' })
    expect(approvalViews([call], new Map())[0]?.args).toContain('"x"')
    const same = { ...call, args: { url: 'https://b.example/?q=1' } }
    expect(approvalViews([same], new Map())[0]?.args).toBe('')
    expect(approvalViews([{ ...same, foreign: { sources } }], new Map())[0]?.args).toContain('b.example')
    expect(approvalViews([{ ...call, foreign: { sources } }], new Map())[0]?.foreign).toEqual({
      sources,
      destination: null,
    })
  })

  test('knows what became of an answer', () => {
    const own = new Map([['a', { isAnswering: false, problem: 'no' }]])
    expect(approvalViews([asked({})], own)[0]).toMatchObject({ isAnswering: false, problem: 'no' })
  })
})
