// @vitest-environment jsdom
import { afterEach, expect, test } from 'vitest'
import { markTab, setTabTitle } from './tab'

afterEach(() => {
  markTab(0)
  document.head.innerHTML = ''
})

test('the tab shows how much is new, in its title and its icon, and what it is about', () => {
  document.head.innerHTML = '<link rel="icon" href="/favicon.svg">'
  const icon = () => document.querySelector('link')!.getAttribute('href')
  setTabTitle('A · NetaClaw')
  expect([document.title, icon()]).toEqual(['A · NetaClaw', '/favicon.svg'])
  markTab(2)
  expect([document.title, icon()!.endsWith('/favicon-news.svg')]).toEqual(['(2) A · NetaClaw', true])
  setTabTitle('B · NetaClaw')
  expect(document.title).toBe('(2) B · NetaClaw')
  markTab(0)
  expect([document.title, icon()!.endsWith('/favicon.svg')]).toEqual(['B · NetaClaw', true])
})
