/** The whole session as rows of a tree: branches indent, linear runs do not, and long ones fold. */

import { ROOT } from '@/protocol'
import type { TreeShape } from '@/session'
import type { BranchPoint, TreeEntryRow, TreeFilter, TreeRow } from './types'

/** What the tree shows of an entry. */
export interface TreeNode {
  id: string
  role: TreeEntryRow['role']
  text: string
  label: string | null
  at: number | null
}

export interface TreeInput {
  shape: TreeShape
  /** Entries that nothing is known of are shown by their place alone. */
  nodes: ReadonlyMap<string, TreeNode>
  path: readonly string[]
}

export interface TreeOptions {
  filter: TreeFilter
  search: string
  /** Folds that the user has opened, by the id of their first entry. */
  unfolded: ReadonlySet<string>
}

/** A linear run is folded if it would hide at least this many rows. */
const FOLD_MIN = 3

export function treeRows(input: TreeInput, options: TreeOptions): readonly TreeRow[] {
  const view = new TreeView(input, options)
  const rows: TreeRow[] = []
  // Depth first, by a list instead of recursion: a session may be ten thousand entries deep.
  const waiting: Place[] = view.places(view.childrenShown(ROOT), -1, [])
  while (waiting.length > 0) {
    const place = waiting.pop()!
    const run = view.linearRun(place.id)
    rows.push(...view.rowsOfRun(run, place))
    const children = view.childrenShown(run.at(-1)!)
    waiting.push(...view.places(children, place.depth, place.rails))
  }
  return rows
}

interface Place {
  id: string
  depth: number
  rails: readonly boolean[]
  branch: BranchPoint | null
}

class TreeView {
  private readonly onPath: ReadonlySet<string>
  private readonly leaf: string | null
  private readonly words: string
  private readonly shownBelow = new Map<string, readonly string[]>()

  constructor(
    private readonly input: TreeInput,
    private readonly options: TreeOptions,
  ) {
    this.onPath = new Set(input.path)
    this.leaf = input.path.at(-1) ?? null
    this.words = options.search.trim().toLowerCase()
  }

  /** Places for siblings, last one first, as a stack wants them. */
  places(ids: readonly string[], depth: number, rails: readonly boolean[]): Place[] {
    const forks = ids.length > 1
    const places = ids.map((id, index) => ({
      id,
      depth: forks || depth < 0 ? depth + 1 : depth,
      rails: forks && depth >= 0 ? [...rails, index < ids.length - 1] : rails,
      branch: forks ? { index, count: ids.length, ids } : null,
    }))
    return places.reverse()
  }

  /** The nearest shown entries below: those that the filter hides are looked through. */
  childrenShown(id: string): readonly string[] {
    const known = this.shownBelow.get(id)
    if (known) return known
    const shown: string[] = []
    const waiting = [...(this.input.shape.childrenOf.get(id) ?? [])].reverse()
    while (waiting.length > 0) {
      const child = waiting.pop()!
      if (this.isShown(child)) shown.push(child)
      else waiting.push(...[...(this.input.shape.childrenOf.get(child) ?? [])].reverse())
    }
    this.shownBelow.set(id, shown)
    return shown
  }

  /** From an entry down to the next fork or end. */
  linearRun(first: string): readonly string[] {
    const run = [first]
    for (let below = this.childrenShown(first); below.length === 1; below = this.childrenShown(below[0]!)) {
      run.push(below[0]!)
    }
    return run
  }

  rowsOfRun(run: readonly string[], place: Place): TreeRow[] {
    const rows: TreeRow[] = []
    let hidden: string[] = []
    const flush = () => {
      const isOpen = hidden.length < FOLD_MIN || this.options.unfolded.has(hidden[0]!)
      if (isOpen) rows.push(...hidden.map((id) => this.entryRow(id, place)))
      else rows.push(this.foldRow(hidden, place))
      hidden = []
    }
    for (const [at, id] of run.entries()) {
      if (at > 0 && at < run.length - 1 && !this.isMarked(id)) {
        hidden.push(id)
        continue
      }
      if (hidden.length > 0) flush()
      rows.push(this.entryRow(id, at === 0 ? place : { ...place, branch: null }))
    }
    return rows
  }

  private foldRow(ids: readonly string[], place: Place): TreeRow {
    return {
      kind: 'fold',
      key: `fold:${ids[0]}`,
      depth: place.depth,
      rails: place.rails,
      branch: null,
      onPath: this.onPath.has(ids[0]!),
      entryIds: ids,
      count: ids.length,
    }
  }

  private entryRow(id: string, place: Place): TreeRow {
    const node = this.input.nodes.get(id)
    return {
      kind: 'entry',
      key: id,
      entryId: id,
      depth: place.depth,
      rails: place.rails,
      branch: place.id === id ? place.branch : null,
      onPath: this.onPath.has(id),
      role: node?.role ?? 'custom',
      text: node?.text ?? '',
      label: node?.label ?? null,
      at: node?.at ?? null,
      isLeaf: id === this.leaf,
      forks: this.childrenShown(id).length > 1,
      hit: this.isHit(id),
      unknown: node === undefined,
    }
  }

  /** Rows that stay when a run is folded. */
  private isMarked(id: string): boolean {
    return id === this.leaf || this.isHit(id) || (this.input.nodes.get(id)?.label ?? null) !== null
  }

  private isHit(id: string): boolean {
    if (this.words === '') return false
    const node = this.input.nodes.get(id)
    return node !== undefined && `${node.label ?? ''} ${node.text}`.toLowerCase().includes(this.words)
  }

  private isShown(id: string): boolean {
    // The leaf is always there: it is where one stands.
    if (id === this.leaf) return true
    const node = this.input.nodes.get(id)
    switch (this.options.filter) {
      case 'all':
        return true
      case 'noTools':
        return node?.role !== 'tool'
      case 'userOnly':
        return node?.role === 'user'
      case 'labelled':
        return (node?.label ?? null) !== null
    }
  }
}
