// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { rangesIn } from './highlights'

function found(html: string, words: string): string[] {
  const root = document.createElement('div')
  root.innerHTML = html
  return rangesIn(root, words).map(String)
}

test('words are found across inner elements, and not across paragraphs', () => {
  expect(found('<p>A <strong>very</strong> good day</p>', 'very GOOD')).toEqual(['very good'])
  expect(found('<p>a very</p><p>good day</p>', 'verygood')).toEqual([])
  expect(found('<pre><span>fn</span> <span>ma</span><span>in</span>()</pre>', 'fn main')).toEqual(['fn main'])
  expect(found('<p>no, no and <em>no</em></p>', 'no')).toEqual(['no', 'no', 'no'])
})

test('what is only heard, and buttons of messages, are not text', () => {
  expect(
    found('<p>copy<span class="nc-visually-hidden">copy</span></p><div class="actions">copy</div>', 'copy'),
  ).toEqual(['copy'])
})

test('nothing is found when nothing is asked for', () => {
  expect(found('<p>a</p>', ' ')).toEqual([])
})
