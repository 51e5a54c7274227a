import { expect, test } from 'vitest'
import { matchesOf } from './matches'

const found = (text: string, name = 'grep') => matchesOf({ name, status: 'done', result: { text, images: [] } })

test('lines stand below their files', () => {
  const text = 'a.rs\n1-fn a() {\n2:  b: 1\n--\n9:c\n\nsrc/2: odd\n7:x\n[Matches 1 to 3; there are more.]\n'
  expect(found(text)).toEqual({
    files: [
      {
        path: 'a.rs',
        lines: [
          { number: 1, isMatch: false, text: 'fn a() {' },
          { number: 2, isMatch: true, text: '  b: 1' },
          { number: null, isMatch: false, text: '' },
          { number: 9, isMatch: true, text: 'c' },
        ],
      },
      { path: 'src/2: odd', lines: [{ number: 7, isMatch: true, text: 'x' }] },
    ],
    notes: ['Matches 1 to 3; there are more.'],
  })
})

test('what is no such text stays text', () => {
  expect(found('No matches.\n')).toBeNull()
  expect(found('a.rs\nb.rs\n')).toBeNull()
  expect(found('a.rs\n1:x\n', 'bash')).toBeNull()
})
