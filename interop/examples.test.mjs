// The TypeScript examples, run as their README says, on the real server and its demo model.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const targetDir = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../target', import.meta.url))
const binary = process.env.NETACLAW_BIN ?? join(targetDir, 'debug', 'netaclaw')
const here = fileURLToPath(new URL('.', import.meta.url))
const jiti = join(here, 'node_modules/jiti/lib/jiti-cli.mjs')
const TOKEN = 'a-token-for-this-test'
const env = { PATH: process.env.PATH, OLLAMA_HOST: '127.0.0.1:1', LC_ALL: 'C' }
let dir, scripts, server, address

before(async () => {
  assert.ok(existsSync(binary), 'the server is not built; run `cargo build -p netaclaw`')
  dir = mkdtempSync(join(tmpdir(), 'neta-examples-'))
  // Here, so that the packages of the examples are found.
  scripts = mkdtempSync(join(here, '.examples-'))
  server = spawn(binary, ['--data-dir', join(dir, 'data'), 'serve', '--listen', '127.0.0.1:0'], {
    cwd: dir,
    env: { ...env, HOME: dir, NETACLAW_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  for await (const chunk of server.stdout) {
    output += chunk
    address = /ready at (http:\/\/\S+)/.exec(output)?.[1]
    if (address) return
  }
  throw new Error(`the server ended before it was ready: ${output}`)
})

after(async () => {
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
  rmSync(dir, { recursive: true, force: true })
  rmSync(scripts, { recursive: true, force: true })
})

/** Runs an example in an empty directory. */
async function run(name, args, variables) {
  const script = join(scripts, name)
  copyFileSync(new URL(`../examples/${name}`, import.meta.url), script)
  const child = spawn(process.execPath, [jiti, script, ...args], {
    cwd: dir,
    env: { ...env, HOME: dir, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

test('the Socket.IO client prints the answer', async () => {
  const ran = await run('socketio_client.ts', ['hello'], { NETACLAW_URL: address, NETACLAW_TOKEN: TOKEN })
  assert.deepEqual([ran.code, ran.err], [0, ''])
  assert.match(ran.out, /demo model/i)
})

test('the Socket.IO client says why it cannot connect', async () => {
  const ran = await run('socketio_client.ts', ['hello'], { NETACLAW_URL: address, NETACLAW_TOKEN: 'wrong' })
  assert.equal(ran.code, 1)
  assert.match(ran.err, /cannot connect/)
})

test('the MCP client lists tools and calls one', async () => {
  const ran = await run('mcp_client.ts', [], { NETACLAW: binary, NETACLAW_DATA_DIR: join(dir, 'mcp') })
  assert.equal(ran.code, 0, ran.err)
  assert.match(ran.out, /^ls: /m)
  assert.match(ran.out, /"type": "text"/)
})
