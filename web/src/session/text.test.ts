import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NO_TEXT, append, openText, scalars, skipScalars, wholeText } from './text'

const words = fc.string({ unit: 'grapheme', maxLength: 20 })

describe('text in pieces', () => {
  test('offsets count scalar values, not UTF-16 units', () => {
    expect(scalars('a𝒳👋🏽é')).toBe(5)
    expect(skipScalars('𝒳👋🏽b', 1)).toBe('👋🏽b')
    expect(append(openText('𝒳'), 1, '👋🏽')).toEqual(openText('𝒳👋🏽'))
  })

  test('a gap is reported, an overlap is dropped', () => {
    expect(append(openText('abc'), 4, 'x')).toBeNull()
    expect(append(openText('abc'), 1, 'bcd')).toEqual(openText('abcd'))
    const open = openText('abc')
    expect(append(open, 0, 'ab')).toBe(open)
  })

  test('pieces in any overlap give the whole', () => {
    fc.assert(
      fc.property(words, fc.array(fc.tuple(fc.nat(20), fc.nat(20))), (text, cuts) => {
        const all = [...text]
        let open = NO_TEXT
        for (const [from, length] of [...cuts, [0, all.length] as const]) {
          open =
            append(open, Math.min(from, open.length), all.slice(Math.min(from, open.length), from + length).join('')) ??
            open
        }
        expect(wholeText(open)).toBe(text)
        expect(open.length).toBe(all.length)
      }),
    )
  })
})
