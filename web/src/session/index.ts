export type {
  AskedQuestion,
  CompactionState,
  PartState,
  SessionState,
  StreamingState,
  ToolEnd,
  ToolState,
} from './state'
export { answersWish } from './compaction'
export { fromSnapshot } from './snapshot'
export { reduce, withEntries } from './reduce'
export { withoutWants } from './wants'
export { partKey } from './deltas'
export type { TreeShape } from './tree'
export { pathTo } from './tree'
export { processOf, type ProcessState, type Step } from './process'
export { definitionsIn, piecesOf } from './pieces'
export { wholeText, type OpenText } from './text'
