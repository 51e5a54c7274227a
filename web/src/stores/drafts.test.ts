import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, test } from 'vitest'
import { draftKey, useDrafts } from './drafts'

beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
})

/** As after a reload. */
function reload() {
  setActivePinia(createPinia())
  return useDrafts()
}

test('a draft belongs to its session and branch, and survives a reload', () => {
  const [one, other] = [draftKey('s', null), draftKey('s', 'fork')]
  useDrafts().set(one, { text: 'here' })
  useDrafts().set(other, { text: 'there', cursor: 2 })
  const drafts = reload()
  expect(drafts.get(one).text).toBe('here')
  expect(drafts.get(other)).toMatchObject({ text: 'there', cursor: 2 })
  expect(drafts.get(draftKey('t', null)).text).toBe('')
})

test('what is cleared is gone, and what is given back stands before what was written since', () => {
  const drafts = useDrafts()
  drafts.set('k', { text: 'first' })
  drafts.clear('k')
  expect(drafts.drafts).toEqual({})
  drafts.set('k', { text: 'second' })
  drafts.giveBack('k', 'first')
  expect(drafts.get('k').text).toBe('first\n\nsecond')
  drafts.giveBack('k', 'first')
  expect(drafts.get('k').text).toBe('first\n\nsecond')
})

test('a draft moves to another place, and nothing moves where nothing is', () => {
  const drafts = useDrafts()
  drafts.set('new', { text: 'more', cursor: 2 })
  drafts.move('new', 's')
  drafts.move('new', 's')
  expect(drafts.get('s')).toMatchObject({ text: 'more', cursor: 2 })
  expect(drafts.get('new').text).toBe('')
})

test('nonsense in the storage is no draft', () => {
  localStorage.setItem('netaclaw.drafts', '{broken')
  expect(reload().get('k').text).toBe('')
})
