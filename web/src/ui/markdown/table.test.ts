// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { cellsOf, csv, tabbed } from './table'

test('a table is read as it is shown, and written for spreadsheets', () => {
  document.body.innerHTML =
    '<table><thead><tr><th>name</th><th>size</th></tr></thead><tbody><tr><td>a "b",\n c</td><td>-3.5</td></tr></tbody></table>'
  const cells = cellsOf(document.querySelector('table')!)
  expect(cells).toEqual([
    ['name', 'size'],
    ['a "b", c', '-3.5'],
  ])
  expect(tabbed(cells)).toBe('name\tsize\na "b", c\t-3.5')
  expect(csv(cells)).toBe('name,size\r\n"a ""b"", c",-3.5')
})

test('what a spreadsheet would carry out is text', () => {
  expect(csv([['=HYPERLINK("x")', '+1', '@a', '-']])).toBe('"\'=HYPERLINK(""x"")",+1,\'@a,\'-')
})
