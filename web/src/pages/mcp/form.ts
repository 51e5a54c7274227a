/** An MCP server as the editor's fields hold it. Pure: both ways, and what is wrong with it. */

import type { McpServerView, McpServerWrite } from '@/protocol'
import { isName } from '../form/names'

export interface McpForm {
  name: string
  kind: 'stdio' | 'http'
  command: string
  /** One in each line. */
  args: string
  url: string
  secrets: SecretForm[]
  enabled: boolean
  /** Tools that are offered, one in each line; empty: all. */
  only: string
  /** Tools that are left out, one in each line. */
  without: string
  /** Directories, one in each line. */
  roots: string
  network: boolean
  /** Also on a machine that cannot lock it in. */
  unlocked: boolean
  timeoutSeconds: number | null
}

export interface SecretForm {
  name: string
  /** Empty keeps the value that is there. */
  value: string
  /** Whether there is one. */
  isSet: boolean
}

export const TIMEOUT_SECONDS = 60

export function blankServer(): McpServerWrite {
  return {
    name: '',
    transport: { type: 'stdio', command: '', args: [] },
    status: 'enabled',
    tools: { enabled: [], disabled: [] },
    sandbox: { missing: 'refuse', network: false },
    roots: [],
    timeoutMs: TIMEOUT_SECONDS * 1000,
    secrets: {},
  }
}

/** Values are not known here: those that are named keep theirs. */
export function specOf(server: McpServerView): McpServerWrite {
  const { name, transport, status, tools, sandbox, roots, timeoutMs, secretNames } = server
  return {
    name,
    transport,
    status,
    tools,
    sandbox,
    roots,
    timeoutMs,
    secrets: Object.fromEntries(secretNames.map((secret) => [secret, null])),
  }
}

export function toForm(spec: McpServerWrite): McpForm {
  const { transport } = spec
  return {
    name: spec.name,
    kind: transport.type,
    command: transport.type === 'stdio' ? transport.command : '',
    args: transport.type === 'stdio' ? transport.args.join('\n') : '',
    url: transport.type === 'http' ? transport.url : '',
    secrets: Object.entries(spec.secrets ?? {}).map(([name, value]) => ({
      name,
      value: value ?? '',
      isSet: value === null,
    })),
    enabled: spec.status === 'enabled',
    only: spec.tools.enabled.join('\n'),
    without: spec.tools.disabled.join('\n'),
    roots: spec.roots.join('\n'),
    network: spec.sandbox.network,
    unlocked: spec.sandbox.missing === 'warn',
    timeoutSeconds: spec.timeoutMs / 1000,
  }
}

export function toWrite(form: McpForm): McpServerWrite {
  const secrets = form.secrets.filter((secret) => secret.name.trim() !== '' || secret.value !== '')
  return {
    name: form.name.trim(),
    transport:
      form.kind === 'stdio'
        ? { type: 'stdio', command: form.command.trim(), args: form.args === '' ? [] : form.args.split('\n') }
        : { type: 'http', url: form.url.trim() },
    status: form.enabled ? 'enabled' : 'disabled',
    tools: { enabled: lines(form.only), disabled: lines(form.without) },
    sandbox: { missing: form.unlocked ? 'warn' : 'refuse', network: form.network },
    roots: lines(form.roots),
    timeoutMs: Math.round((form.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000),
    secrets: Object.fromEntries(
      secrets.map(({ name, value, isSet }) => [name.trim(), value === '' && isSet ? null : value]),
    ),
  }
}

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** What is wrong, by field: the key of the text that says so. */
export type McpProblems = Partial<Record<string, McpProblem>>
export type McpProblem =
  | 'nameNeeded'
  | 'nameForm'
  | 'commandNeeded'
  | 'addressForm'
  | 'addressSecret'
  | 'rootForm'
  | 'secretName'
  | 'secretTwice'
  | 'secretValue'

export function problems(form: McpForm): McpProblems {
  const found: McpProblems = {}
  if (form.name.trim() === '') found['name'] = 'nameNeeded'
  else if (!isName(form.name.trim())) found['name'] = 'nameForm'
  if (form.kind === 'stdio' && form.command.trim() === '') found['transport.command'] = 'commandNeeded'
  if (form.kind === 'http') {
    const address = addressProblem(form.url.trim())
    if (address) found['transport.url'] = address
  }
  if (lines(form.roots).some((root) => !root.startsWith('/'))) found['roots'] = 'rootForm'
  const names = form.secrets.map((secret) => secret.name.trim())
  form.secrets.forEach((secret, index) => {
    const name = names[index]!
    if (name === '' && secret.value === '') return
    if (!/^[A-Za-z0-9_-]{1,200}$/.test(name) || /^(LD_|DYLD_|NETACLAW_)|^GLIBC_TUNABLES$/i.test(name))
      found[`secrets.${index}`] = 'secretName'
    else if (names.indexOf(name) < index) found[`secrets.${index}`] = 'secretTwice'
    else if (secret.value === '' && !secret.isSet) found[`secrets.${index}`] = 'secretValue'
  })
  return found
}

function addressProblem(address: string): McpProblem | null {
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url || !['http:', 'https:'].includes(url.protocol)) return 'addressForm'
  return url.username !== '' || url.password !== '' ? 'addressSecret' : null
}
