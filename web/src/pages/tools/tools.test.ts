import { expect, test } from 'vitest'
import type { ToolInfo } from '@/protocol'
import { catalogueGroups, globalSetting, isOn, statusOf, weakness } from './tools'

const tool = (name: string, changes: Partial<ToolInfo> = {}): ToolInfo => ({
  name,
  source: 'builtin',
  label: { zh: `工具${name}`, en: `Tool ${name}` },
  category: 'files',
  risk: 'read',
  present: true,
  rev: 1,
  createdAt: 0,
  updatedAt: 0,
  description: '',
  onByDefault: true,
  schema: {},
  ...changes,
})

test('a switch goes there and back', () => {
  for (const setting of ['default', 'on', 'off'] as const) {
    const status = statusOf(setting)
    expect(globalSetting(tool('a', status ? { status } : {}))).toBe(setting)
  }
})

test('what an agent has that says nothing', () => {
  expect(isOn(tool('a'))).toBe(true)
  expect(isOn(tool('a', { onByDefault: false }))).toBe(false)
  expect(isOn(tool('a', { onByDefault: false, status: 'enabled' }))).toBe(true)
  expect(isOn(tool('a', { status: 'disabled' }))).toBe(false)
  expect(isOn(tool('a', { present: false }))).toBe(false)
})

test('programs without namespaces are less confined', () => {
  expect(weakness(tool('ls'))).toBe(null)
  expect(weakness(tool('bash', { isolation: 'namespaces' }))).toBe(null)
  expect(weakness(tool('bash', { isolation: 'refused' }))).toBe('refused')
  expect(weakness(tool('bash', { isolation: 'off' }))).toBe('off')
})

test('tools are found by name, label and what they do, in the order of categories', () => {
  const all = [
    tool('web', { category: 'web', description: 'Fetches pages' }),
    tool('ls'),
    tool('old', { present: false, status: 'disabled' }),
  ]
  const names = (...asked: [Parameters<typeof catalogueGroups>[1], string]) =>
    catalogueGroups(all, ...asked).map((group) => group.tools.map((one) => one.name))
  expect(names('all', '')).toEqual([['ls', 'old'], ['web']])
  expect(names('all', 'PAGES')).toEqual([['web']])
  expect(names('all', '工具l')).toEqual([['ls']])
  expect(names('switched', '')).toEqual([['old']])
  expect(names('gone', '')).toEqual([['old']])
})
