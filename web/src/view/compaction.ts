/** Compactions: where one was made, one that is under way or has failed, and what the last one folded. */

import type { Entry } from '@/protocol'
import { answersWish, type CompactionState, type SessionState } from '@/session'
import { troubleWords, type TroubleLanguage } from './trouble'
import type { CompactionAbout, CompactionRow } from './types'

type CompactionEntry = Extract<Entry, { type: 'compaction' }>
type Base = Pick<CompactionRow, 'key' | 'entryId' | 'branch' | 'label' | 'at'>

const BARE = {
  kind: 'compaction',
  reason: null,
  summary: '',
  tokensBefore: null,
  tokensAfter: null,
  messageCount: null,
  problem: null,
  isFault: false,
  canRetry: false,
  retryAt: null,
  stage: null,
  canDismiss: false,
  undoTo: null,
  about: null,
} as const satisfies Partial<CompactionRow>

export function storedCompaction(base: Base, entry: CompactionEntry): CompactionRow {
  const details = fieldsOf(entry.details)
  return {
    ...BARE,
    ...base,
    state: 'done',
    reason: reasonOf(details['reason']),
    summary: entry.summary,
    tokensBefore: entry.tokensBefore,
    tokensAfter: numberIn(details, 'tokensAfter'),
    messageCount: numberIn(details, 'compactedCount'),
    undoTo: entry.parentId,
    about: aboutOf(details),
  }
}

/** One that no entry tells of (yet). */
export function liveCompaction(base: Base, compaction: CompactionState, language: TroubleLanguage): CompactionRow {
  if (compaction.state === 'running') {
    const { reason, messageCount } = compaction.start
    return { ...BARE, ...base, state: 'running', reason, messageCount, stage: compaction.progress }
  }
  if (compaction.state === 'done') return { ...BARE, ...base, state: 'done' }
  const { reason, words, message, retryable, retryAt } = compaction.error
  return {
    ...BARE,
    ...base,
    state: 'error',
    problem: troubleWords(words && { words }, language) ?? message,
    reason,
    isFault: !answersWish(compaction.error),
    // Where one wanted to go on is chosen in the tree.
    canRetry: retryable && reason !== 'branch',
    canDismiss: true,
    retryAt: retryAt ?? null,
  }
}

/** Where on the active path what the model still sees word for word begins; 0 if it sees all, as far as is known. */
export function foldedUntil(state: SessionState): number {
  for (let at = state.path.length - 1; at >= 0; at--) {
    const entry = state.entries.get(state.path[at]!)
    if (entry === undefined) return 0
    if (entry.type !== 'compaction') continue
    // Without its first kept entry on this path nothing before the summary is seen.
    const first = state.path.indexOf(entry.firstKeptEntryId)
    return first < 0 ? at : first
  }
  return 0
}

type Fields = Record<string, unknown>

/** The details may be another program's. */
const fieldsOf = (details: unknown): Fields =>
  typeof details === 'object' && details !== null ? (details as Fields) : {}
const numberIn = (fields: Fields, name: string): number | null =>
  typeof fields[name] === 'number' ? fields[name] : null
const textIn = (fields: Fields, name: string): string | null =>
  typeof fields[name] === 'string' && fields[name] !== '' ? fields[name] : null
const textsIn = (fields: Fields, name: string): readonly string[] =>
  Array.isArray(fields[name]) ? fields[name].filter((item): item is string => typeof item === 'string') : []

function reasonOf(reason: unknown): CompactionRow['reason'] {
  return reason === 'manual' || reason === 'auto' || reason === 'overflow' ? reason : null
}

function aboutOf(details: Fields): CompactionAbout {
  const ledger = Array.isArray(details['ledger']) ? details['ledger'].map(fieldsOf) : []
  return {
    model: textIn(details, 'model'),
    durationMs: numberIn(details, 'durationMs'),
    keptCount: numberIn(details, 'keptCount'),
    instructions: textIn(details, 'instructions'),
    readFiles: textsIn(details, 'readFiles'),
    modifiedFiles: textsIn(details, 'modifiedFiles'),
    calls: ledger.flatMap((line) => {
      const call = textIn(line, 'call')
      return call === null ? [] : [{ call, failed: line['failed'] === true, times: numberIn(line, 'times') ?? 1 }]
    }),
  }
}
