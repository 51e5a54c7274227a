import { expect, test } from 'vitest'
import { readPasted } from './paste'

const pasted = (text: string) =>
  readPasted(text)?.map(({ name, kind, command, args, url }) => ({ name, kind, command, args, url }))

test('programs and addresses are read, with their secrets', () => {
  const text = JSON.stringify({
    mcpServers: {
      'my files': { command: 'npx', args: ['-y', 'server', '/data'], env: { TOKEN: 'abc', PORT: 80 } },
      docs: { type: 'http', url: 'https://a.example/mcp', headers: { Authorization: 'Bearer x' }, disabled: true },
    },
  })
  const [files, docs] = readPasted(text)!
  expect(files).toEqual({
    name: 'my-files',
    kind: 'stdio',
    command: 'npx',
    args: '-y\nserver\n/data',
    url: '',
    secrets: [
      { name: 'TOKEN', value: 'abc', isSet: false },
      { name: 'PORT', value: '80', isSet: false },
    ],
    enabled: true,
  })
  expect(docs).toMatchObject({ kind: 'http', url: 'https://a.example/mcp', command: '', enabled: false })
  expect(docs!.secrets).toEqual([{ name: 'Authorization', value: 'Bearer x', isSet: false }])
})

test.each([
  ['of other programs', '{"servers": {"a": {"command": "a"}}}'],
  ['without the outer name', '{"a": {"command": "a"}}'],
  ['without the outer braces', '"mcpServers": {"a": {"command": "a"}},'],
  ['with comments and a comma too many', '{"mcpServers": {// one\n"a": {"command": "a", /* x */},},}'],
  ['in a block of Markdown', '```json\n{"mcpServers": {"a": {"command": "a"}}}\n```'],
  ['of one server alone', '{"command": "a"}'],
])('also %s', (_what, text) => {
  expect(pasted(text)).toEqual([{ name: 'a', kind: 'stdio', command: 'a', args: '', url: '' }])
})

test('a command with its arguments in one line is taken apart, and an address names itself', () => {
  expect(pasted('{"command": "uvx server --fast"}')).toMatchObject([{ command: 'uvx', args: 'server\n--fast' }])
  expect(pasted('{"url": "https://mcp.example/x"}')).toMatchObject([{ name: 'mcp.example', kind: 'http' }])
})

test('what describes no server is refused', () => {
  for (const text of ['', 'npx server', '{}', '[]', '{"mcpServers": {"a": {"args": []}}}', '{"mcpServers": 1}'])
    expect(readPasted(text), text).toBeNull()
})
