import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { definitionsIn, piecesOf } from './pieces'
import { NO_TEXT, append, openText } from './text'

const LONG = 'x'.repeat(4_000)

/** What follows a piece that is long enough: is it a piece of its own? */
const isCutBefore = (text: string) => piecesOf(`${LONG}\n\n${text}`).length > 1

describe('pieces of a long text', () => {
  test.each([
    ['a paragraph', 'words\n', true],
    ['bold words', '**bold** words\n', true],
    ['a heading', '# head\n', true],
    ['code', '```js\n', true],
    ['a line that has not ended', 'words', false],
    ['an item of a list', '- item\n', false],
    ['a numbered item', '12. item\n', false],
    ['a quotation', '> words\n', false],
    ['what is indented', '  words\n', false],
  ])('before %s', (_name, text, isCut) => {
    expect(isCutBefore(text)).toBe(isCut)
  })

  test('a short text is one piece', () => {
    expect(piecesOf('one\n\ntwo\n\nthree\n')).toEqual(['one\n\ntwo\n\nthree\n'])
  })

  test('code and formulas are never cut, and what stands behind them is', () => {
    for (const [open, close] of [
      ['```js', '```'],
      ['~~~~', '~~~~'],
      ['1. ```', '   ```'],
      ['$$', '$$'],
      ['\\[', '\\]'],
    ]) {
      const block = `${open}\n${LONG}\n\nwords\n${close}\n\n`
      expect(piecesOf(`${block}behind\n`)).toEqual([block, 'behind\n'])
    }
    expect(piecesOf(`\`\`\`\n${LONG}\n\nwords\n\n~~~\n\nwords\n`)).toHaveLength(1)
  })

  test('a very long list is cut all the same', () => {
    const list = '- an item\n\n'.repeat(2_000)
    expect(piecesOf(list).length).toBeGreaterThan(1)
    expect(piecesOf(list).every((piece) => piece.startsWith('- '))).toBe(true)
  })

  test('however a text arrives, its pieces are those of the whole', () => {
    const line = fc.constantFrom(
      '',
      '',
      'words',
      '- item',
      '  more',
      '```',
      '~~~',
      '$$',
      '> quoted',
      '# head',
      LONG,
      '汉字 '.repeat(700),
    )
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 6_000 }), { minLength: 1 }),
        (lines, steps) => {
          const text = lines.join('\n')
          let open = NO_TEXT
          for (let at = 0, step = 0; at < text.length; step++) {
            const piece = text.slice(at, at + steps[step % steps.length]!)
            open = append(open, open.length, piece)!
            at += piece.length
          }
          expect(open).toEqual(openText(text))
          expect(piecesOf(text).join('')).toBe(text)
        },
      ),
    )
  })

  test('definitions are found', () => {
    expect(definitionsIn('See [1].\n\n[1]: https://one.example\n  [two]: /two "Two"\nx [3]: no\n')).toBe(
      '[1]: https://one.example\n  [two]: /two "Two"',
    )
  })
})
