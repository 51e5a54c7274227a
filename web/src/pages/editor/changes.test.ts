import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changes, isSame, rebase } from './changes'

const base = { name: 'a', model: { id: 'm', heat: null as number | null }, tools: ['read'] }

describe('two editors', () => {
  test('changes of both sides are listed field by field', () => {
    const mine = { name: 'b', model: { id: 'm', heat: 1 }, tools: ['read', 'bash'] }
    const theirs = { name: 'c', model: { id: 'n', heat: null }, tools: ['read', 'bash'] }
    expect(changes(base, mine, theirs)).toEqual([
      { path: 'name', base: 'a', mine: 'b', theirs: 'c', by: 'both' },
      { path: 'model.id', base: 'm', mine: 'm', theirs: 'n', by: 'them' },
      { path: 'model.heat', base: null, mine: 1, theirs: null, by: 'me' },
    ])
  })

  test('keeping mine keeps also what only they changed', () => {
    const mine = { name: 'b', model: { id: 'm', heat: 1 }, tools: ['read'] }
    const theirs = { name: 'c', model: { id: 'n', heat: null }, tools: [] }
    expect(rebase(base, mine, theirs)).toEqual({ name: 'b', model: { id: 'n', heat: 1 }, tools: [] })
  })

  test('a field that came and one that went', () => {
    const before: Record<string, number> = { a: 1, b: 2 }
    expect(rebase(before, { a: 1 }, { a: 1, b: 2, c: 3 })).toEqual({ a: 1, c: 3 })
    expect(rebase(before, { a: 1, b: 2, d: 4 }, { b: 2 })).toEqual({ b: 2, d: 4 })
  })
})

const record = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd'),
  fc.oneof(
    fc.integer({ max: 2, min: 0 }),
    fc.dictionary(fc.constantFrom('x', 'y'), fc.integer({ max: 2, min: 0 })),
    fc.constant(null),
  ),
)

describe('for all records', () => {
  test('nothing of mine is lost, and nothing of theirs that I did not touch', () => {
    fc.assert(
      fc.property(record, record, record, (before, mine, theirs) => {
        expect(rebase(before, mine, before)).toEqual(mine)
        expect(rebase(before, before, theirs)).toEqual(theirs)
        expect(rebase(before, mine, mine)).toEqual(mine)
        // Whatever differs from theirs afterwards is something that I changed.
        const merged = rebase(before, mine, theirs)
        for (const change of changes(before, merged, theirs)) expect(change.by).not.toBe('them')
      }),
    )
  })

  test('there are changes exactly where records differ', () => {
    fc.assert(
      fc.property(record, record, record, (before, mine, theirs) => {
        expect(changes(before, mine, theirs).length === 0).toBe(isSame(mine, theirs))
      }),
    )
  })
})
