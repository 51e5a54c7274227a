import { expect, test } from 'vitest'
import type { DictType } from '@/protocol'
import { allValues, changedValues, otherEntries } from './defaults'

const stamp = { rev: 1, createdAt: 0, updatedAt: 0 }
const entry = (name: string, value: string) => ({
  id: name,
  typeId: 't',
  name,
  value,
  orderNum: 0,
  remark: '',
  ...stamp,
})
const dictionary: DictType[] = [
  {
    id: 't',
    key: 'netaclaw',
    name: 'NetaClaw',
    entries: [entry('auxiliary_channel_id', 'c'), entry('hint', 'x')],
    ...stamp,
  },
  { id: 'u', key: 'shop', name: 'Shop', entries: [entry('a.b', '1')], ...stamp },
]

test('values are known by group and name, and an absent one is empty', () => {
  expect(allValues(dictionary)).toEqual({
    'netaclaw.auxiliary_channel_id': 'c',
    'netaclaw.auxiliary_model_id': '',
    'netaclaw.hint': 'x',
    'shop.a.b': '1',
  })
})

test('only what differs is written, on top of what was read', () => {
  expect(changedValues(dictionary, allValues(dictionary))).toEqual([])
  expect(
    changedValues(dictionary, { ...allValues(dictionary), 'shop.a.b': '2', 'netaclaw.auxiliary_model_id': 'm' }),
  ).toEqual([
    { group: 'netaclaw', name: 'auxiliary_model_id', value: 'm', entry: null },
    { group: 'shop', name: 'a.b', value: '2', entry: dictionary[1]!.entries[0] },
  ])
})

test('entries with fields of their own are not listed twice', () => {
  expect(otherEntries(dictionary).map(({ group, entries }) => [group.key, entries.map(({ name }) => name)])).toEqual([
    ['netaclaw', ['hint']],
    ['shop', ['a.b']],
  ])
})
