import type { TreeRow } from '@/view/types'

/** The row that a row hangs from when walking left: the fork one level up, or the row before it in its own line. */
export function levelUp(rows: readonly TreeRow[], index: number): number {
  const depth = rows[index]?.depth ?? 0
  for (let at = index - 1; at >= 0; at--) if (rows[at]!.depth < depth) return at
  return Math.max(0, index - 1)
}
