/** Standing approvals: which scopes can be granted with a call, and what each covers. */

import type { ApprovalOffer, ApprovalScope, ApprovalUse, ApprovalWithin, StandingApproval } from '@/protocol'

/** A scope that can be chosen, and where it can be valid. */
export interface ScopeChoice {
  key: string
  scope: ApprovalScope
  within: readonly ApprovalWithin[]
}

/** What a scope covers: the key of a text, and what stands in it. */
export interface ScopeWords {
  key: 'call' | 'tool' | 'workspace' | 'folder' | 'commands'
  what: string
}

/** The folder that is the workspace. */
const WORKSPACE = '.'

const RANKS: readonly ScopeWords['key'][] = ['commands', 'workspace', 'folder', 'tool', 'call']

/** What was offered, the most useful first. */
export function scopeChoices(offers: readonly ApprovalOffer[]): readonly ScopeChoice[] {
  const rank = (choice: ScopeChoice) => RANKS.indexOf(scopeWords(choice.scope).key)
  return offers
    .map(({ scope, within }, at) => ({ key: `${scope.kind}-${at}`, scope, within }))
    .sort((a, b) => rank(a) - rank(b))
}

export function scopeWords(scope: ApprovalScope): ScopeWords {
  switch (scope.kind) {
    case 'call':
      return { key: 'call', what: '' }
    case 'tool':
      return { key: 'tool', what: '' }
    case 'edits':
      return scope.folder === WORKSPACE ? { key: 'workspace', what: '' } : { key: 'folder', what: `${scope.folder}/` }
    case 'commands':
      return { key: 'commands', what: scope.patterns.join(' · ') }
  }
}

/** The approval that accepts all edits of this session. */
export const acceptsEdits = (approval: StandingApproval): boolean =>
  approval.scope.kind === 'edits' && approval.scope.folder === WORKSPACE

/** The approvals that allowed a call, as its result tells. */
export function usesIn(details: unknown): readonly ApprovalUse[] | null {
  const told = (typeof details === 'object' && details !== null ? details : {}) as Record<string, unknown>
  const uses = told['allowedBy']
  return Array.isArray(uses) && uses.length > 0 ? (uses as ApprovalUse[]) : null
}
