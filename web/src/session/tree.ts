import type { Entry } from '@/protocol'
import { ROOT } from '@/protocol'
import { PersistentMap } from './persistentMap'

/** Who hangs from whom, for the whole session; the entries themselves may not be loaded. */
export interface TreeShape {
  readonly parentOf: PersistentMap<string>
  /** In the order they were appended; roots under `ROOT`. */
  readonly childrenOf: PersistentMap<readonly string[]>
  readonly size: number
}

export function treeShape(children: Readonly<Record<string, readonly string[]>>): TreeShape {
  const groups = Object.entries(children)
  const parents = groups.flatMap(([parent, ids]) => ids.map((id) => [id, parent] as const))
  return { parentOf: PersistentMap.from(parents), childrenOf: PersistentMap.from(groups), size: parents.length }
}

/** Adds an entry; one that is there already changes nothing. */
export function withEntry(tree: TreeShape, entry: Entry): TreeShape {
  if (tree.parentOf.has(entry.id)) return tree
  const known = entry.parentId !== null && entry.parentId !== entry.id && tree.parentOf.has(entry.parentId)
  const parent = known ? entry.parentId! : ROOT
  const siblings = tree.childrenOf.get(parent) ?? []
  return {
    parentOf: tree.parentOf.with(entry.id, parent),
    childrenOf: tree.childrenOf.with(parent, [...siblings, entry.id]),
    size: tree.size + 1,
  }
}

/** Ids from the root to an entry. A circle ends where it closes. */
export function pathTo(tree: TreeShape, leaf: string | null): readonly string[] {
  const path: string[] = []
  const seen = new Set<string>()
  for (let at = leaf; at !== null && at !== ROOT && !seen.has(at); at = tree.parentOf.get(at) ?? null) {
    seen.add(at)
    path.push(at)
  }
  return path.reverse()
}

/** The path to a new leaf, without walking it again where the leaf was only moved on by one. */
export function pathAfter(tree: TreeShape, path: readonly string[], leaf: string | null): readonly string[] {
  const last = path.at(-1) ?? null
  if (leaf === last) return path
  if (leaf !== null && tree.parentOf.get(leaf) === (last ?? ROOT)) return [...path, leaf]
  return pathTo(tree, leaf)
}
