// The official reference server of the Model Context Protocol, used from a chat of the real binary by
// both transports; and the official client, on the tools that the binary serves itself.

import { LLMock } from '@copilotkit/aimock'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const targetDir = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../target', import.meta.url))
const binary = process.env.NETACLAW_BIN ?? join(targetDir, 'debug', 'netaclaw')
const everything = fileURLToPath(
  new URL('node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
)
const mock = new LLMock({ port: 0, chunkSize: 5, strict: true })
const dir = mkdtempSync(join(tmpdir(), 'neta-mcp-'))
const env = { PATH: process.env.PATH, HOME: dir, OLLAMA_HOST: '127.0.0.1:1', LC_ALL: 'C' }

async function netaclaw(args, input = '') {
  const child = spawn(binary, ['--data-dir', join(dir, 'data'), ...args], { cwd: dir, env })
  child.stdin.end(input)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  assert.equal(code, 0, `${args.join(' ')}: ${err}`)
  return { out, err }
}

before(async () => {
  assert.ok(existsSync(binary), 'NetaClaw is not built; run `cargo build -p netaclaw`')
  await mock.start()
  await netaclaw([
    'channel',
    'add',
    'mock',
    '--supplier',
    'compatible',
    '--base-url',
    `${mock.url}/v1`,
    '--model',
    'm',
    '--default',
  ])
  await netaclaw(['agent', 'edit', 'default', '--set', 'approval=never'])
})

after(async () => {
  await mock.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** Has the model call a tool, and gives what it read back. */
async function called(name, args) {
  mock.reset()
  mock.on({ userMessage: 'go', hasToolResult: true }, { content: 'done' })
  mock.on({ userMessage: 'go' }, { toolCalls: [{ id: 'call_1', name, arguments: JSON.stringify(args) }] })
  const { out, err } = await netaclaw(['chat'], 'go\n')
  assert.equal(out, 'done\n')
  const id = /--session (\S+)/.exec(err)[1]
  const shown = JSON.parse((await netaclaw(['session', 'show', id, '--json'])).out)
  const result = shown.entries.flatMap((entry) => entry.message ?? []).find((message) => message.role === 'toolResult')
  return result.content.map((block) => block.text).join('\n')
}

test('the reference server as a program', async () => {
  await netaclaw(['mcp', 'add', 'everything', '--', process.execPath, everything, 'stdio'])
  const tested = JSON.parse((await netaclaw(['mcp', 'test', 'everything', '--json'])).out)
  assert.ok(
    tested.tools.some((tool) => tool.toolName === 'mcp__everything__echo'),
    JSON.stringify(tested),
  )
  assert.match(await called('mcp__everything__echo', { message: '水 and "water"' }), /水 and "water"/)
})

test('the reference server by streamable HTTP', async () => {
  const port = await freePort()
  const server = spawn(process.execPath, [everything, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  try {
    await Promise.any([server.stdout, server.stderr].map(listening))
    await netaclaw(['mcp', 'add', 'remote', '--url', `http://127.0.0.1:${port}/mcp`])
    assert.match(await called('mcp__remote__echo', { message: 'by HTTP' }), /by HTTP/)
  } finally {
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }
})

test('the official client on our own tools', async () => {
  writeFileSync(join(dir, 'notes.txt'), 'water\n')
  const client = new Client({ name: 'interop', version: '1' })
  const transport = new StdioClientTransport({
    command: binary,
    args: ['--data-dir', join(dir, 'data'), 'mcp', 'serve'],
    cwd: dir,
    env,
  })
  await client.connect(transport)
  const { tools } = await client.listTools()
  assert.ok(tools.some((tool) => tool.name === 'read' && tool.annotations.readOnlyHint))
  const read = await client.callTool({ name: 'read', arguments: { path: 'notes.txt' } })
  assert.match(read.content[0].text, /water/)
  const refused = await client.callTool({ name: 'todo', arguments: { items: [] } })
  assert.equal(refused.isError, true)
  await client.close()
})

/** Resolves when the stream says so, and reads on. */
function listening(stream) {
  let said = ''
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk) => /listening/i.test((said += chunk)) && resolve())
    stream.on('end', () => reject(new Error(said)))
  })
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
