// Records what a real server tells about scripted conversations, for the tests of the reducer:
//   node tools/record.mjs PATH_TO_NETACLAW [conversation ...]
// Writes src/session/recordings/*.json: the first snapshot, every event after it, and the last
// snapshot, which the reducer must arrive at.
import { spawn } from 'node:child_process'
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { io } from 'socket.io-client'

const target = join(dirname(fileURLToPath(import.meta.url)), '../src/session/recordings')
const token = 'recording-recording-recording'

/** Each conversation is a list of things to do; after each the session becomes idle or asks. */
const conversations = {
  plain: [{ say: 'Hello' }],
  tools: [
    { say: 'Please list files, read notes.md, and make a todo: milk, bread' },
    { say: 'Now think hard: 你好 👋🏽 𝒳?' },
  ],
  question: [{ say: 'ask me: red, green or blue' }, { answer: 'green' }],
  branches: [
    { say: 'First' },
    { say: 'Second' },
    { branchAt: 1, say: 'Second, otherwise' },
    { switchTo: 'first-branch' },
  ],
  queue: [{ say: 'Tell me a long story', queue: ['And then?', 'And then again?'] }],
  skill: [{ say: '/skill folder-audit {"folder": "."}' }],
  stop: [{ say: 'Tell me a long story about the sea', stop: true }, { say: 'Go on' }],
}

const [program, ...wanted] = process.argv.slice(2)
if (!program) throw new Error('usage: node tools/record.mjs PATH_TO_NETACLAW [conversation ...]')
mkdirSync(target, { recursive: true })
const place = mkdtempSync(join(tmpdir(), 'netaclaw-record-'))
const data = join(place, 'data')
// What the tools of the conversations see. The data directory is hidden from them.
const workspace = join(place, 'workspace')
mkdirSync(workspace)
writeFileSync(join(workspace, 'notes.md'), '# Notes\n\nBuy milk.\n')
const server = spawn(program, ['serve', '--listen', '127.0.0.1:0', '--data-dir', data], {
  env: { ...process.env, NETACLAW_TOKEN: token, NETACLAW_LOG: 'error' },
  cwd: workspace,
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const address = await firstAddress(server)
  await letItRun(address)
  for (const [name, steps] of Object.entries(conversations)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const recording = await record(address, steps)
    writeFileSync(join(target, `${name}.json`), JSON.stringify(recording, null, 1).replaceAll(place, '/data') + '\n')
    process.stdout.write(`${name}: ${recording.events.length} events\n`)
  }
} finally {
  server.kill()
  rmSync(place, { recursive: true, force: true })
}

async function firstAddress(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /https?:\/\/[\d.]+:\d+/.exec(line)
    if (found) return found[0]
  }
  throw new Error('the server ended before it was ready')
}

/** No user is present to approve calls. */
async function letItRun(address) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { items } = await (await fetch(`${address}/admin/netaclaw/agents`, { headers })).json()
  const changed = await fetch(`${address}/admin/netaclaw/agents/${items[0].id}`, {
    method: 'PATCH',
    headers,
    body: JSON.stringify({ approval: 'never' }),
  })
  if (!changed.ok) throw new Error(`the agent could not be changed: ${changed.status}`)
}

async function record(address, steps) {
  const socket = io(`${address}/netaclaw`, { auth: { token, events: ['current'] }, transports: ['websocket'] })
  const ask = async (name, data) => {
    const answer = await socket.timeout(10_000).emitWithAck(name, data)
    if (!answer.ok) throw new Error(`${name}: ${answer.code} ${answer.message}`)
    return answer
  }
  const events = []
  let notice = () => {}
  socket.onAny((_, event) => {
    if (!event.sessionId) return
    events.push(event)
    notice()
  })
  const until = (is) => new Promise((resolve) => (notice = () => is() && resolve()))
  const settled = () => {
    const last = events.findLast((event) => event.type === 'run_status' || event.type === 'clarify_request')
    return last?.type === 'clarify_request' || last?.data.status === 'idle'
  }
  try {
    const { sessionId } = await ask('chat', { content: steps[0].say, requestId: crypto.randomUUID() })
    // The message subscribed this client already; a recording begins where the snapshot ends.
    const opened = await ask('session_open', { sessionId })
    const before = events.length
    for (const [number, step] of steps.entries()) {
      const from = events.length
      if (number > 0) await act(ask, sessionId, step, events)
      for (const content of step.queue ?? []) await ask('chat', { sessionId, content, mode: 'queue' })
      if (step.stop) {
        if (!events.slice(from).some((event) => event.type === 'assistant_stream_delta')) {
          await until(() => events.slice(from).some((event) => event.type === 'assistant_stream_delta'))
        }
        await ask('stop', { sessionId })
      }
      const idle = () => settled() && (step.queue ? events.at(-1).data.status === 'idle' && queueIsEmpty(events) : true)
      if (!step.switchTo && !idle()) await until(idle)
    }
    await ask('session_close', { sessionId })
    const closed = await ask('session_open', { sessionId })
    return { opened: stripped(opened), events: events.slice(before), closed: stripped(closed) }
  } finally {
    socket.disconnect()
  }
}

function queueIsEmpty(events) {
  return events.findLast((event) => event.type === 'queue_update')?.data.items.length === 0
}

async function act(ask, sessionId, step, events) {
  const users = events.filter((event) => event.data.entry?.message?.role === 'user').map((event) => event.data.entry)
  if (step.answer) {
    const question = events.findLast((event) => event.type === 'clarify_request').data
    return await ask('clarify_response', { sessionId, requestId: question.requestId, answer: step.answer })
  }
  if (step.switchTo) {
    const answers = events.filter((event) => event.data.entry?.message?.role === 'assistant')
    return await ask('switch_leaf', { sessionId, leafEntryId: answers[0].data.entry.id })
  }
  const branch = step.branchAt === undefined ? {} : { leafEntryId: users.at(-step.branchAt).parentId }
  return await ask('chat', { sessionId, content: step.say, requestId: crypto.randomUUID(), ...branch })
}

/** Without the acknowledgement's own fields. */
function stripped({ ok: _, ...opened }) {
  return opened
}
