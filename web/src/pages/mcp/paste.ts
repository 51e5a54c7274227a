/** Reads the JSON with which MCP servers are described in their documentation. Pure. */

import type { McpForm } from './form'

export type Pasted = Pick<McpForm, 'name' | 'kind' | 'command' | 'args' | 'url' | 'secrets' | 'enabled'>

type Json = Record<string, unknown>

/**
 * The servers of a text: `{"mcpServers": {…}}`, `{"servers": {…}}`, servers by name, or one server alone. Comments, a comma
 * too many and missing outer braces are forgiven, as they are often copied so. Null if it is none of these.
 */
export function readPasted(text: string): readonly Pasted[] | null {
  const json = parse(text)
  if (!json) return null
  const inside = json['mcpServers'] ?? json['servers'] ?? json['context_servers'] ?? json
  if (!isObject(inside)) return null
  const named: [string, unknown][] = isServer(inside) ? [['', inside]] : Object.entries(inside)
  const found = named.flatMap(([name, server]) => (isObject(server) && isServer(server) ? [formOf(name, server)] : []))
  return found.length > 0 ? found : null
}

function parse(text: string): Json | null {
  const plain = text.trim().replace(/^```\w*\s*|```$/g, '')
  const forgiving = withoutComments(plain)
    .replace(/,(\s*[}\]])/g, '$1')
    .replace(/,\s*$/, '')
  for (const candidate of [plain, forgiving, `{${forgiving}}`]) {
    try {
      const json: unknown = JSON.parse(candidate)
      if (isObject(json)) return json
    } catch {
      // The next one may be it.
    }
  }
  return null
}

/** Two slashes within a string are an address. */
const withoutComments = (text: string): string =>
  text.replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) => (found.startsWith('"') ? found : ''))

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const isServer = (value: Json): boolean =>
  [value['command'], value['url'], value['serverUrl'], value['httpUrl']].some((field) => typeof field === 'string')

function formOf(name: string, server: Json): Pasted {
  const words = (key: string): string => (typeof server[key] === 'string' ? (server[key] as string).trim() : '')
  const url = words('url') || words('serverUrl') || words('httpUrl')
  const isHttp = words('command') === ''
  // Some write the program and its arguments in one line.
  const [program = '', ...rest] = words('command').split(/\s+/)
  const inLine = rest.length > 0 && server['args'] === undefined && !/["'\\/]\s/.test(words('command'))
  const args = Array.isArray(server['args']) ? server['args'].map(String) : inLine ? rest : []
  return {
    name: nameOf(name || url || program),
    kind: isHttp ? 'http' : 'stdio',
    command: isHttp ? '' : inLine ? program : words('command'),
    args: isHttp ? '' : args.join('\n'),
    url: isHttp ? url : '',
    secrets: secretsOf(isHttp ? server['headers'] : server['env']),
    enabled: server['disabled'] !== true,
  }
}

const secretsOf = (values: unknown): McpForm['secrets'] =>
  isObject(values) ? Object.entries(values).map(([name, value]) => ({ name, value: wordsOf(value), isSet: false })) : []

/** Numbers and the like as they are written. */
const wordsOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)

/** A name as servers have here: letters, digits, and a few signs between them. */
function nameOf(text: string): string {
  const host = URL.canParse(text) ? new URL(text).hostname : text
  return host
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
    .slice(0, 64)
}
