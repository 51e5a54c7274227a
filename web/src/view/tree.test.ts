import { describe, expect, test } from 'vitest'
import { PersistentMap } from '@/session/persistentMap'
import { treeShape } from '@/session/tree'
import { treeRows, type TreeNode, type TreeOptions } from './tree'
import type { TreeRow } from './types'

/** `a>b` says that b hangs from a; roots stand alone. Names that begin with t are tools, u users. */
function tree(edges: string, labels: Record<string, string> = {}) {
  const children: Record<string, string[]> = {}
  const ids: string[] = []
  for (const edge of edges.split(' ')) {
    const [parent, id] = edge.includes('>') ? (edge.split('>') as [string, string]) : (['__root__', edge] as const)
    ;(children[parent] ??= []).push(id)
    ids.push(id)
  }
  const role = (id: string) => (id.startsWith('t') ? 'tool' : id.startsWith('u') ? 'user' : 'assistant')
  const nodes = ids.map((id): [string, TreeNode] => [
    id,
    { id, role: role(id), text: id, label: labels[id] ?? null, at: null },
  ])
  return { shape: treeShape(children), nodes: new Map(nodes) }
}

const all: TreeOptions = { filter: 'all', search: '', unfolded: new Set() }

function read(rows: readonly TreeRow[]): string[] {
  return rows.map((row) => {
    const marks = `${row.onPath ? '*' : ''}${row.kind === 'entry' && row.isLeaf ? '!' : ''}${row.kind === 'entry' && row.hit ? '?' : ''}`
    return `${'  '.repeat(row.depth)}${row.kind === 'fold' ? `(${row.count})` : row.entryId}${marks}`
  })
}

describe('tree', () => {
  test('a line stays a line, and a long one folds', () => {
    const input = { ...tree('u1 u1>a1 a1>u2 u2>a2 a2>u3 u3>a3'), path: ['u1', 'a1', 'u2', 'a2', 'u3', 'a3'] }
    expect(read(treeRows(input, all))).toEqual(['u1*', '(4)*', 'a3*!'])
    const unfolded = { ...all, unfolded: new Set(['a1']) }
    expect(read(treeRows(input, unfolded))).toEqual(['u1*', 'a1*', 'u2*', 'a2*', 'u3*', 'a3*!'])
  })

  test('branches indent, and the leaf and labels are never folded away', () => {
    const shape = tree('u1 u1>a1 a1>u2 a1>u3 u3>a3 a3>u4 u4>a4 a4>u5 u5>a5', { u4: 'here' })
    const input = { ...shape, path: ['u1', 'a1', 'u3', 'a3'] }
    expect(read(treeRows(input, all))).toEqual([
      'u1*',
      'a1*',
      '  u2',
      '  u3*',
      '  a3*!',
      '  u4',
      '  a4',
      '  u5',
      '  a5',
    ])
  })

  test('filters look through what they hide', () => {
    const input = { ...tree('u1 u1>t1 t1>a1 a1>u2 a1>t2 t2>u3'), path: ['u1', 't1', 'a1', 'u2'] }
    expect(read(treeRows(input, { ...all, filter: 'noTools' }))).toEqual(['u1*', 'a1*', '  u2*!', '  u3'])
    expect(read(treeRows(input, { ...all, filter: 'userOnly' }))).toEqual(['u1*', '  u2*!', '  u3'])
    expect(read(treeRows(input, { ...all, filter: 'labelled' }))).toEqual(['u2*!'])
  })

  test('what is searched for is shown', () => {
    const input = { ...tree('u1 u1>a1 a1>u2 u2>a2 a2>u3 u3>a3'), path: [] }
    expect(read(treeRows(input, { ...all, search: 'U2' }))).toEqual(['u1', 'a1', 'u2?', 'a2', 'u3', 'a3'])
  })

  test('ten thousand entries in one line, and as many branches, do not overflow', () => {
    const line = Array.from({ length: 10_000 }, (_, at) => (at === 0 ? 'n0' : `n${at - 1}>n${at}`)).join(' ')
    expect(read(treeRows({ ...tree(line), path: [] }, all))).toEqual(['n0', '(9998)', 'n9999'])
    const fork = ['r', ...Array.from({ length: 10_000 }, (_, at) => `r>n${at}`)].join(' ')
    expect(treeRows({ ...tree(fork), path: [] }, all)).toHaveLength(10_001)
  })
})

test('a grown map finds what was there before and after it grew', () => {
  let map = PersistentMap.from<number>([['a', 1]])
  for (let at = 0; at < 1_000; at++) map = map.with(`k${at}`, at)
  expect(map.get('a')).toBe(1)
  expect(map.get('k999')).toBe(999)
  expect([...map]).toHaveLength(1_001)
  expect(map.with('a', 2).get('a')).toBe(2)
  expect(map.get('a')).toBe(1)
})
