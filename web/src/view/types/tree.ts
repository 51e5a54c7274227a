/** The rows of the tree panel. */

import type { Millis } from './time'
import type { BranchPoint } from './transcript'

export type TreeFilter = 'all' | 'noTools' | 'userOnly' | 'labelled'

export type TreeRow = TreeEntryRow | TreeFoldRow

interface TreeRowBase {
  key: string
  /** Levels of forks above it, not of parents: a linear run stays at one level. */
  depth: number
  onPath: boolean
  /** Which of its siblings it is, where there is more than one. */
  branch: BranchPoint | null
  /** For each level to the left of it, whether a line runs through. */
  rails: readonly boolean[]
}

export interface TreeEntryRow extends TreeRowBase {
  kind: 'entry'
  entryId: string
  role: 'user' | 'assistant' | 'tool' | 'compaction' | 'branchSummary' | 'notice' | 'custom'
  text: string
  label: string | null
  at: Millis | null
  isLeaf: boolean
  /** More than one child is shown. */
  forks: boolean
  /** The search found it. */
  hit: boolean
  /** Nothing of it is loaded but its place. */
  unknown: boolean
}

/** A linear run that is folded away. */
export interface TreeFoldRow extends TreeRowBase {
  kind: 'fold'
  /** The folded entries, in order. */
  entryIds: readonly string[]
  count: number
}
