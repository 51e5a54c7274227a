import { describe, expect, test } from 'vitest'
import type { ApprovalOffer, ApprovalScope } from '@/protocol'
import { scopeChoices, scopeWords, usesIn } from './standing'

const offer = (scope: ApprovalScope): ApprovalOffer => ({ scope, within: ['session'] })

describe('scopes of an approval', () => {
  test('come with the most useful first', () => {
    const offers = [
      offer({ kind: 'call', hash: 'h' }),
      offer({ kind: 'edits', folder: 'src' }),
      offer({ kind: 'edits', folder: '.' }),
      offer({ kind: 'tool' }),
      offer({ kind: 'commands', patterns: ['git *', 'ls *'] }),
    ]
    const keys = scopeChoices(offers).map((choice) => scopeWords(choice.scope).key)
    expect(keys).toEqual(['commands', 'workspace', 'folder', 'tool', 'call'])
    expect(new Set(scopeChoices(offers).map((choice) => choice.key)).size).toBe(5)
  })

  test('say all that they cover', () => {
    expect(scopeWords({ kind: 'commands', patterns: ['git *', 'ls *'] }).what).toBe('git * · ls *')
    expect(scopeWords({ kind: 'edits', folder: 'src/app' })).toEqual({ key: 'folder', what: 'src/app/' })
  })

  test('that allowed a call are in its details', () => {
    expect(usesIn(undefined)).toBeNull()
    expect(usesIn({ allowedBy: [] })).toBeNull()
    const use = { id: 'a', scope: { kind: 'tool' }, within: 'agent', grantedBy: 'ann', grantedAt: 1 }
    expect(usesIn({ allowedBy: [use] })).toEqual([use])
  })
})
