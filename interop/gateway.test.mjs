// The real server with the official Socket.IO client: both transports, resync, refusals.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { io } from 'socket.io-client'

const targetDir = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../target', import.meta.url))
const binary = process.env.NETACLAW_BIN ?? join(targetDir, 'debug', 'netaclaw')
const TOKEN = 'a-token-for-this-test'
let server, dir, address

before(async () => {
  assert.ok(existsSync(binary), 'the server is not built; run `cargo build -p netaclaw`')
  dir = mkdtempSync(join(tmpdir(), 'neta-gateway-'))
  address = await start('127.0.0.1:0')
})

after(async () => {
  await kill('SIGTERM')
  rmSync(dir, { recursive: true, force: true })
})

/** Starts the server and waits for the line that says it is ready. */
async function start(listen) {
  const env = { ...process.env, NETACLAW_TOKEN: TOKEN, LC_ALL: 'C' }
  server = spawn(binary, ['--data-dir', join(dir, 'data'), 'serve', '--listen', listen], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of server.stdout) {
    text += chunk
    const ready = /ready at (http:\/\/\S+)/.exec(text)
    if (ready) return ready[1]
  }
  throw new Error(`the server ended before it was ready: ${text}`)
}

async function kill(signal) {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill(signal)
  await ended
}

/** A connected client that keeps every event and can wait for one. */
async function connect(transports, auth = { token: TOKEN, events: ['current'] }) {
  const socket = io(`${address}/netaclaw`, { transports, auth, forceNew: true, reconnection: false })
  const events = []
  const waiting = []
  socket.onAny((name, event) => {
    assert.equal(event?.type, name)
    events.push(event)
    for (const waiter of waiting.splice(0)) waiter()
  })
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('connect_error', reject)
  })
  const wait = async (fits) => {
    for (;;) {
      const found = events.find(fits)
      if (found) return found
      await new Promise((resolve) => waiting.push(resolve))
    }
  }
  return { socket, events, wait, ask: (name, data) => socket.emitWithAck(name, data) }
}

const done = (event) => event.type === 'done'
const reliable = (events) => events.filter((event) => event.seq !== undefined)

/** The answers on the active path of a session. */
async function answers(client, sessionId) {
  const opened = await client.ask('session_open', { sessionId })
  assert.equal(opened.ok, true, JSON.stringify(opened))
  return opened.snapshot.entries.filter((entry) => entry.message?.role === 'assistant')
}

for (const transports of [['websocket'], ['polling']]) {
  test(`a chat over ${transports}: acknowledged, streamed, numbered, stored`, async () => {
    const client = await connect(transports)
    const ack = await client.ask('chat', { content: 'hello', requestId: `hello-${transports}` })
    assert.equal(ack.ok, true, JSON.stringify(ack))
    assert.equal(ack.disposition, 'started')
    const opened = await client.ask('session_open', { sessionId: ack.sessionId })
    assert.equal(opened.ok, true)
    if (opened.snapshot.run.status !== 'idle') await client.wait(done)
    // The client that starts a session is subscribed at once; events before `session_open` are in the snapshot.
    const seqs = reliable(client.events)
      .map((event) => event.seq)
      .filter((seq) => seq > opened.seq)
    seqs.forEach((seq, at) => assert.equal(seq, opened.seq + 1 + at, 'no gap'))
    const [answer] = await answers(client, ack.sessionId)
    assert.match(answer.message.content.at(-1).text, /demo model/)

    const list = await client.ask('sessions_watch', { filter: { status: 'active' }, limit: 5 })
    assert.ok(list.items.some((item) => item.sessionId === ack.sessionId))

    const again = await client.ask('chat', { content: 'hello', requestId: `hello-${transports}` })
    assert.equal(again.deduped, true, 'the same request has one effect')
    assert.equal(again.sessionId, ack.sessionId)
    client.socket.close()
  })
}

test('a second client that joins during the answer ends with the same text', async () => {
  const first = await connect(['websocket'])
  const { sessionId } = await first.ask('chat', { content: 'tell me about yourself' })
  const second = await connect(['polling'])
  const opened = await second.ask('session_open', { sessionId })
  let text = opened.snapshot.streaming?.parts.find((part) => part.kind === 'text')?.text ?? ''
  if (opened.snapshot.run.status !== 'idle') {
    await second.wait(done)
    for (const event of second.events.filter((event) => event.type === 'assistant_stream_delta')) {
      const { offset, text: more } = event.data
      const known = [...text].length
      assert.ok(offset <= known, 'no gap')
      text += [...more].slice(known - offset).join('')
    }
    const [answer] = await answers(second, sessionId)
    assert.equal(text, answer.message.content.at(-1).text)
  }
  first.socket.close()
  second.socket.close()
})

test('bad input gets a typed refusal, and the socket lives', async () => {
  const client = await connect(['websocket'])
  const refused = async (name, data, code) => {
    const ack = await client.ask(name, data)
    assert.equal(ack.ok, false)
    assert.equal(ack.code, code, JSON.stringify(ack))
    assert.ok(ack.message.length > 0)
  }
  await refused('chat', { content: 5 }, 'bad_request')
  await refused('chat', { content: '' }, 'bad_request')
  await refused('no_such_event', {}, 'bad_request')
  await refused('stop', { sessionId: 'nowhere' }, 'not_found')
  await refused('session_open', { sessionId: '../../etc' }, 'not_found')
  assert.equal((await client.ask('ping', {})).ok, true)
  client.socket.close()
})

test('a connection without the token is refused', async () => {
  await assert.rejects(connect(['websocket'], { token: 'wrong' }), /unauthorized/)
  await assert.rejects(connect(['polling'], {}), /unauthorized/)
})

test('kill -9 right after the acknowledgement loses nothing', async () => {
  const client = await connect(['websocket'])
  const { sessionId } = await client.ask('chat', { content: 'remember me' })
  client.socket.close()
  await kill('SIGKILL')
  address = await start('127.0.0.1:0')
  const again = await connect(['websocket'])
  const opened = await again.ask('session_open', { sessionId })
  const users = opened.snapshot.entries.filter((entry) => entry.message?.role === 'user')
  assert.deepEqual(
    users.map((entry) => entry.message.content),
    ['remember me'],
  )
  assert.equal(opened.snapshot.run.status, 'idle')
  const ack = await again.ask('chat', { sessionId, content: 'and on' })
  assert.equal(ack.ok, true, JSON.stringify(ack))
  await again.wait(done)
  again.socket.close()
})
