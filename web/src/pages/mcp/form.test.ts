import { describe, expect, test } from 'vitest'
import type { McpServerView } from '@/protocol'
import { blankServer, problems, specOf, toForm, toWrite, type McpForm } from './form'

const kept: McpServerView = {
  id: 'm1',
  name: 'files',
  transport: { type: 'stdio', command: 'npx', args: ['-y', 'some server', ''] },
  status: 'disabled',
  tools: { enabled: ['read_*'], disabled: ['read_all'] },
  sandbox: { missing: 'warn', network: true },
  roots: ['/srv/数据'],
  timeoutMs: 1500,
  secretNames: ['API_KEY', 'OTHER'],
  rev: 3,
  createdAt: 1,
  updatedAt: 2,
}

describe('a server in the form', () => {
  test('goes in and out unchanged, and its secrets stay where they are', () => {
    const spec = specOf(kept)
    expect(spec.secrets).toEqual({ API_KEY: null, OTHER: null })
    expect(toWrite(toForm(spec))).toEqual(spec)
    const http = { ...spec, transport: { type: 'http' as const, url: 'https://example.com/mcp' } }
    expect(toWrite(toForm(http))).toEqual(http)
  })

  test('sends only values that the user entered', () => {
    const form = toForm(specOf(kept))
    form.secrets[0]!.value = 'new'
    form.secrets.splice(1, 1)
    form.secrets.push({ name: ' MORE ', value: 'x', isSet: false }, { name: '', value: '', isSet: false })
    expect(toWrite(form).secrets).toEqual({ API_KEY: 'new', MORE: 'x' })
  })
})

describe('what is wrong', () => {
  const check = (change: Partial<McpForm>) =>
    problems({ ...toForm({ ...blankServer(), name: 'a' }), command: 'x', ...change })
  const secret = (name: string, value = '', isSet = false) => ({ name, value, isSet })

  test.each<[Partial<McpForm>, object]>([
    [{}, {}],
    [{ name: ' ' }, { name: 'nameNeeded' }],
    [{ name: 'a/b' }, { name: 'nameForm' }],
    [{ command: ' ' }, { 'transport.command': 'commandNeeded' }],
    [{ kind: 'http', url: 'ftp://x' }, { 'transport.url': 'addressForm' }],
    [{ kind: 'http', url: 'https://me:pw@x.example/' }, { 'transport.url': 'addressSecret' }],
    [{ kind: 'http', url: 'http://localhost:1/mcp', command: '' }, {}],
    [{ roots: '/a\nb' }, { roots: 'rootForm' }],
    [{ secrets: [secret('A', 'x'), secret('', ''), secret('B', '', true)] }, {}],
    [{ secrets: [secret('A B', 'x')] }, { 'secrets.0': 'secretName' }],
    [{ secrets: [secret('LD_PRELOAD', 'x')] }, { 'secrets.0': 'secretName' }],
    [{ secrets: [secret('A', 'x'), secret('A', 'y')] }, { 'secrets.1': 'secretTwice' }],
    [{ secrets: [secret('A')] }, { 'secrets.0': 'secretValue' }],
  ])('%j', (change, expected) => expect(check(change)).toEqual(expected))
})
