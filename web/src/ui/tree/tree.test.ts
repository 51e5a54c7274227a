// @vitest-environment jsdom
import { flushPromises, type VueWrapper } from '@vue/test-utils'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import type { TreeEntryRow, TreeRow } from '@/view/types'
import { show } from '../testing'
import TreeView from './TreeView.vue'

/** jsdom has no layout: here the list draws every row. */
vi.mock('virtua/vue', () => ({
  VList: defineComponent({
    props: ['data', 'itemSize'],
    setup(props, { slots, expose }) {
      expose({ scrollToIndex: () => {} })
      return () =>
        h(
          'div',
          (props.data as TreeRow[]).map((item, index) => slots['default']?.({ item, index })),
        )
    },
  }),
}))

const entry = (id: string, changes: Partial<TreeEntryRow> = {}): TreeEntryRow => ({
  kind: 'entry',
  key: id,
  entryId: id,
  depth: 0,
  onPath: false,
  branch: null,
  rails: [],
  role: 'user',
  text: `text ${id}`,
  label: null,
  at: 0,
  isLeaf: false,
  forks: false,
  hit: false,
  unknown: false,
  ...changes,
})

const ROWS: TreeRow[] = [
  entry('a', { onPath: true }),
  { kind: 'fold', key: 'fold', depth: 0, onPath: true, branch: null, rails: [], entryIds: ['x', 'y'], count: 2 },
  entry('b', { onPath: true, forks: true }),
  entry('c', { depth: 1, rails: [true], hit: true }),
  entry('d', { depth: 1, rails: [true] }),
  entry('e', { depth: 1, rails: [false], onPath: true, isLeaf: true, hit: true }),
]

let view: VueWrapper
afterEach(() => view.unmount())

function tree(props: Record<string, unknown> = {}) {
  view = show(TreeView, { rows: ROWS, filter: 'all', query: '', ...props })
  const root = view.get('[role=tree]')
  const press = (...keys: string[]) =>
    keys.reduce((done, key) => done.then(() => root.trigger('keydown', { key })), Promise.resolve())
  const active = () => view.findAll('[role=treeitem][aria-selected=true] .text').map((item) => item.text())
  return { root, press, active }
}

describe('the tree by keyboard', () => {
  test('begins at the leaf and moves', async () => {
    const { press, active, root } = tree()
    expect(active()).toEqual(['text e'])
    await press('ArrowUp')
    expect(active()).toEqual(['text d'])
    await press('ArrowLeft')
    expect(active()).toEqual(['text b'])
    await press('Home')
    expect(active()).toEqual(['text a'])
    await press('ArrowUp', 'ArrowDown')
    expect(active()).toEqual(['2 entries'])
    expect(root.attributes('aria-activedescendant')).toBe(view.get('[aria-selected=true]').attributes('id'))
    await press('End', 'ArrowDown')
    expect(active()).toEqual(['text e'])
  })

  test('switches, forks and opens', async () => {
    const { press } = tree()
    await press('Enter')
    expect(view.emitted('switchTo')).toBeUndefined()
    await press('s')
    expect(view.emitted('leaveFor')).toBeUndefined()
    await press('ArrowUp', 'Enter', 's', 'f')
    expect(view.emitted('switchTo')).toEqual([['d']])
    expect(view.emitted('leaveFor')).toEqual([['d']])
    expect(view.emitted('fork')).toEqual([['d']])
    await press('Home', 'ArrowDown', 'ArrowRight', 'Enter', 'l')
    expect(view.emitted('unfold')).toEqual([['fold'], ['fold']])
  })

  test('does not switch while a run writes', async () => {
    const { press } = tree({ busy: true })
    await press('ArrowUp', 'Enter', 's')
    expect(view.emitted('switchTo')).toBeUndefined()
    expect(view.emitted('leaveFor')).toBeUndefined()
  })

  test('labels in its place', async () => {
    const { press, root } = tree()
    await press('L')
    await flushPromises()
    const field = view.get('.item input')
    await field.setValue('best')
    await field.trigger('keydown', { key: 'f' })
    await field.trigger('keydown', { key: 'Enter' })
    expect(view.emitted('label')).toEqual([['e', 'best']])
    expect(view.emitted('fork')).toBeUndefined()
    expect(document.activeElement).toBe(root.element)
  })

  test('leaves keys with a modifier to the page', async () => {
    const { root, active } = tree()
    await root.trigger('keydown', { key: 'ArrowUp', altKey: true })
    expect(active()).toEqual(['text e'])
  })

  test('searches and goes from match to match', async () => {
    const { press, active } = tree({ query: 'text' })
    await press('/')
    const field = view.get('input[type=search]')
    expect(document.activeElement).toBe(field.element)
    expect(view.text()).toContain('2 matches')
    await field.trigger('keydown', { key: 'Enter' })
    expect(active()).toEqual(['text c'])
    await field.trigger('keydown', { key: 'Enter' })
    expect(active()).toEqual(['text e'])
    await field.trigger('keydown', { key: 'Enter', shiftKey: true })
    expect(active()).toEqual(['text c'])
    await field.setValue('more')
    expect(view.emitted('update:query')).toEqual([['more']])
  })
})

test('the path and the leaf are marked', () => {
  tree()
  expect(view.findAll('[data-path] .text').map((item) => item.text())).toEqual([
    'text a',
    '2 entries',
    'text b',
    'text e',
  ])
  expect(view.get('[aria-current=location] .text').text()).toBe('text e')
  expect(view.findAll('[role=treeitem]').map((item) => item.attributes('aria-level'))).toEqual([
    '1',
    '1',
    '1',
    '2',
    '2',
    '2',
  ])
})

test('filters are asked for', async () => {
  tree()
  await view.findAll('.filter')[2]!.trigger('click')
  expect(view.emitted('update:filter')).toEqual([['userOnly']])
})
