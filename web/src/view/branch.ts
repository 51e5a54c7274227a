import { ROOT } from '@/protocol'
import type { TreeShape } from '@/session'
import type { BranchPoint } from './types'

/** The siblings of an entry; null if it has none. */
export function branchAt(tree: TreeShape, entryId: string): BranchPoint | null {
  const ids = tree.childrenOf.get(tree.parentOf.get(entryId) ?? ROOT)
  if (!ids || ids.length < 2) return null
  return { index: ids.indexOf(entryId), count: ids.length, ids }
}
