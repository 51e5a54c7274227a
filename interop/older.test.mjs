// A client that knows the events and nothing else: it chooses the ids of its sessions, names agents by
// number, never sends `session_open`, and reads every event in one handler by its `type`.

import { LLMock } from '@copilotkit/aimock'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test as untimed } from 'node:test'
import { fileURLToPath } from 'node:url'
import { io } from 'socket.io-client'

const targetDir = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../target', import.meta.url))
const binary = process.env.NETACLAW_BIN ?? join(targetDir, 'debug', 'netaclaw')
const TOKEN = 'a-token-for-this-test'
const mock = new LLMock({ port: 0, chunkSize: 5, strict: true })
const sockets = new Set()
let server, dir, address

before(async () => {
  assert.ok(existsSync(binary), 'NetaClaw is not built; run `cargo build -p netaclaw`')
  await mock.start()
  dir = mkdtempSync(join(tmpdir(), 'neta-older-'))
  mkdirSync(join(dir, 'work'))
  writeFileSync(join(dir, 'work', 'boats.txt'), 'one boat\n')
  stepper(join(dir, 'data', 'skills', 'stepper'))
  const model = ['--supplier', 'deepseek', '--base-url', `${mock.url}/v1`, '--model', 'deepseek-chat:64k']
  await run(['channel', 'add', 'mock', ...model, '--api-key-env', 'KEY', '--default'])
  address = await start()
  const [agent] = (await rest('GET', 'agents')).items
  const spec = await rest('GET', `agents/${agent.id}`)
  await rest('PUT', `agents/${agent.id}`, { ...changed(spec), isDefault: true })
  await rest('POST', 'agents', { ...changed(spec), name: '7', isDefault: false })
})

after(async () => {
  for (const socket of sockets) socket.close()
  if (server && server.exitCode === null) {
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    await ended
  }
  await mock.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** An agent without questions about its tools, that keeps little. */
function changed({ id: _, rev: __, createdAt: ___, updatedAt: ____, ...spec }) {
  const workspace = join(dir, 'work')
  const sandbox = { missing: 'warn', network: false }
  return { ...spec, approval: 'never', compactionKeepRecent: 2, workspace, sandbox }
}

/** A skill that tells of its steps. */
function stepper(folder) {
  mkdirSync(folder, { recursive: true })
  const about =
    'name: stepper\ndescription: Goes step by step.\nmetadata:\n  entry: run.py\n  input: { type: object }\n'
  writeFileSync(join(folder, 'SKILL.md'), `---\n${about}---\n\n# Stepper\n`)
  const tell = (step) => `print(json.dumps(${JSON.stringify(step)}), file=sys.stderr, flush=True)\n`
  const steps = [1, 2, 3].map((current) =>
    tell({ type: 'process_event', stage: 'count', message: `step ${current}`, current, total: 3 }),
  )
  const program = `#!/usr/bin/env python3\nimport json, sys\njson.load(sys.stdin)\n${steps.join('')}print('{"ok": true}')\n`
  writeFileSync(join(folder, 'run.py'), program)
  chmodSync(join(folder, 'run.py'), 0o755)
}

const env = () => ({ ...process.env, HOME: dir, NETACLAW_TOKEN: TOKEN, KEY: 'sk-mock', LC_ALL: 'C' })

async function run(args) {
  const child = spawn(binary, ['--data-dir', join(dir, 'data'), ...args], { cwd: dir, env: env(), stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  assert.equal(code, 0, args.join(' '))
}

/** Starts the server and waits for the line that says it is ready. */
async function start() {
  const args = ['--data-dir', join(dir, 'data'), 'serve', '--listen', '127.0.0.1:0']
  server = spawn(binary, args, { cwd: dir, env: env(), stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const chunk of server.stdout) {
    text += chunk
    const ready = /ready at (http:\/\/\S+)/.exec(text)
    if (ready) return ready[1]
  }
  throw new Error(`the server ended before it was ready: ${text}`)
}

async function rest(method, path, body) {
  const response = await fetch(`${address}/admin/netaclaw/${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  assert.ok(response.ok, JSON.stringify(answer))
  return answer
}

/** A connected client. Everything arrives in one handler, as `{ type, sessionId, data }`. */
async function connect() {
  const socket = io(`${address}/netaclaw`, { auth: { token: TOKEN }, forceNew: true })
  sockets.add(socket)
  const messages = []
  const waiting = []
  socket.onAny((_, message) => {
    messages.push(message)
    for (const waiter of waiting.splice(0)) waiter()
  })
  await once(socket, 'connect')
  const of = (type) => messages.filter((message) => message.type === type).map((message) => message.data)
  const wait = async (type, count = 1) => {
    while (of(type).length < count) await new Promise((resolve) => waiting.push(resolve))
    return of(type).at(count - 1)
  }
  /** Sends a message and waits for the end of its run. */
  const chat = async (sessionId, content, more = {}) => {
    const ended = of('done').length
    socket.emit('chat', { sessionId, content, ...more })
    return wait('done', ended + 1)
  }
  return { socket, messages, of, wait, chat, close: () => socket.close() }
}

/** An event that never comes fails its test. */
const test = (name, run) => untimed(name, { timeout: 60_000 }, run)

function fields(data, names) {
  for (const name of names) assert.notEqual(data[name], undefined, `${name} in ${JSON.stringify(data)}`)
}

/** The calls of the last answer with tools: as the last update of its entry showed them, and a reload does. */
async function sameAsStored(client, sessionId) {
  const updated = client.of('session_entry_updated').at(-1).entry
  const executions = updated.metadata.toolExecutions
  const stored = await rest('GET', `sessions/${sessionId}/snapshot`)
  const entry = stored.entries.find((entry) => entry.id === updated.id)
  assert.deepEqual(entry, updated, 'one projection')
  assert.deepEqual(await rest('GET', `sessions/${sessionId}/entries/${updated.id}`), updated, 'one projection')
  return executions
}

const joined = (deltas) => deltas.map((delta) => delta.text).join('')

test('a message begins the session that it names, and its answer streams in both forms', async () => {
  const thinking = 'First this, then that; 想一想.'
  mock.onMessage('say-hello', { content: 'Hello, 你好 👋', reasoning: thinking })
  const client = await connect()
  const done = await client.chat('own-session', 'say-hello', { agentName: '', agentId: 7 })
  assert.equal(done.outcome, 'completed')
  assert.equal(joined(client.of('thinking_delta')), thinking)
  assert.deepEqual(
    client.of('thinking').map((whole) => whole.text),
    [thinking],
    'complete, and once',
  )
  assert.equal(client.of('thinking_done').length, 1)
  assert.equal(joined(client.of('token')), 'Hello, 你好 👋')
  assert.equal(joined(client.of('assistant_stream_delta')), 'Hello, 你好 👋')
  for (const type of ['assistant_stream_start', 'assistant_stream_end']) assert.equal(client.of(type).length, 1, type)
  const added = client.of('session_entry_added').map(({ entry }) => entry.message?.role)
  assert.deepEqual(added.slice(-2), ['user', 'assistant'])
  const tokens = await client.wait('token_update')
  fields(tokens.current, ['inputTokens', 'outputTokens', 'totalTokens', 'apiCalls'])
  fields(tokens.context, ['usedTokens', 'maxTokens', 'percent', 'thresholdPercent', 'estimated'])
  assert.ok(Number.isInteger(tokens.context.percent))
  for (const { sessionId, type, data } of client.messages) {
    assert.equal(sessionId, 'own-session')
    assert.ok(type && data, 'every message has a type and data')
  }
  const meta = await rest('GET', 'sessions/own-session')
  const agents = (await rest('GET', 'agents')).items
  assert.equal(meta.agentId, agents.find((agent) => agent.name === '7').id)

  client.socket.emit('ping', {})
  await client.wait('pong')
  const entries = client.of('session_entry_added').length
  client.socket.emit('set_thinking_level', { sessionId: 'own-session', level: 'low' })
  const { entry } = await client.wait('session_entry_added', entries + 1)
  assert.equal(entry.thinkingLevel, 'low')
  client.close()
})

test('another socket goes on in the session, with another agent and on another branch', async () => {
  mock.onMessage('who-is-there', { content: 'the default one' })
  mock.onMessage('the-other-way', { content: 'here' })
  const client = await connect()
  await client.chat('own-session', 'who-is-there', { agentName: 'default' })
  assert.equal(joined(client.of('token')), 'the default one')
  const added = client.of('session_entry_added').map(({ entry }) => entry)
  const [record] = added.filter((entry) => entry.customType === 'netaclaw.agent')
  assert.equal(record.data.agentName, 'default')
  assert.equal((await client.wait('session_updated')).session.agentId, record.data.agentId)

  const question = added.find((entry) => entry.message?.content === 'who-is-there')
  await client.chat('own-session', 'the-other-way', { leafEntryId: question.parentId })
  const [leaf] = client.of('session_leaf_changed')
  const branch = client.of('session_entry_added').find(({ entry }) => entry.message?.content === 'the-other-way')
  assert.equal(leaf.leafEntryId, branch.entry.id)
  assert.equal(leaf.activePath.at(-2), question.parentId)
  client.close()
})

test('tools are reported in both forms, with why they may run', async () => {
  const calls = [
    { id: 'call_1', name: 'bash', arguments: '{"command": "cat boats.txt"}' },
    { id: 'call_2', name: 'todo', arguments: '{"items": [{"text": "buy milk", "status": "pending"}]}' },
  ]
  mock.on({ userMessage: 'use-tools', hasToolResult: true }, { content: 'all done' })
  mock.on({ userMessage: 'use-tools' }, { toolCalls: calls })
  const client = await connect()
  await client.chat('tool-session', 'use-tools')
  const ids = (type) => client.of(type).map((data) => data.toolCallId)
  for (const type of ['tool_call', 'tool_call_started', 'tool_call_completed', 'tool_result']) {
    assert.deepEqual(ids(type).toSorted(), ['call_1', 'call_2'], type)
  }
  for (const started of client.of('tool_call_started')) {
    fields(started, ['toolName', 'toolLabel', 'args', 'policySources'])
    assert.ok(started.policySources.length > 0)
    assert.deepEqual(
      [started.runtimeRoute, started.workerRoutingHint].map((route) => typeof route),
      ['string', 'string'],
    )
  }
  const streamed = client.of('tool_result_streamed').filter((data) => data.toolCallId === 'call_1')
  assert.match(joined(streamed), /one boat/)
  const todo = await client.wait('todo_update')
  assert.equal(todo.items[0].text, 'buy milk')
  const executions = await sameAsStored(client, 'tool-session')
  assert.deepEqual(
    executions.map(({ name, label, status }) => [name, label, status]),
    [
      ['bash', 'Run command', 'completed'],
      ['todo', 'To-do list', 'completed'],
    ],
  )
  for (const [at, started] of client.of('tool_call_started').entries()) {
    const execution = executions[at]
    for (const field of ['runtimeRoute', 'workerRoutingHint', 'policySources']) {
      assert.deepEqual(execution[field], started[field], field)
    }
    assert.equal(execution.label, started.toolLabel)
  }
  client.close()
})

test('a call that is not allowed says why, live and as it is stored', async () => {
  const call = { id: 'call_9', name: 'no_such_tool', arguments: '{}' }
  mock.on({ userMessage: 'use-nothing', hasToolResult: true }, { content: 'a pity' })
  mock.on({ userMessage: 'use-nothing' }, { toolCalls: [call] })
  const client = await connect()
  await client.chat('blocked-session', 'use-nothing')
  const started = await client.wait('tool_call_started')
  assert.match(started.blockedReason, /no_such_tool/)
  assert.equal(started.runtimeRoute, 'disabled')
  const [execution] = await sameAsStored(client, 'blocked-session')
  assert.deepEqual([execution.status, execution.blockedReason], ['blocked', started.blockedReason])
  client.close()
})

test('a question is answered by the client that follows nothing but the session it wrote to', async () => {
  const ask = { id: 'call_3', name: 'clarify', arguments: '{"question": "Which?", "options": ["red", "blue"]}' }
  mock.on({ userMessage: 'ask-me', hasToolResult: true }, { content: 'red it is' })
  mock.on({ userMessage: 'ask-me' }, { toolCalls: [ask] })
  const first = await connect()
  first.socket.emit('chat', { sessionId: 'asking', content: 'ask-me' })
  const question = await first.wait('clarify_request')
  fields(question, ['requestId', 'question', 'options'])
  first.close()
  // The page was loaded again, and its socket has sent nothing yet.
  const second = await connect()
  second.socket.emit('clarify_response', { sessionId: 'asking', requestId: question.requestId, answer: 'red' })
  await second.wait('done')
  assert.equal(joined(second.of('token')), 'red it is')
  second.close()
})

test('a skill tells of its steps, and what is stored tells the same', async () => {
  mock.onMessage('/skill stepper', { content: 'counted' })
  const client = await connect()
  await client.chat('skill-session', '/skill stepper {}')
  assert.equal(client.of('skill_start').length, 1)
  assert.equal(client.of('skill_end')[0].status, 'completed')
  const steps = client.of('tool_process_event').filter((step) => step.stage === 'count')
  assert.ok(steps.length > 0)
  for (const step of steps) {
    fields(step, ['operationId', 'targetType', 'source', 'status', 'level', 'message', 'timestamp', 'sequence'])
    assert.deepEqual([step.current <= step.total, step.toolName], [true, 'execute_skill'])
    assert.equal(step.toolLabel, 'Run skill')
  }
  assert.ok(client.of('progress').every((progress) => progress.percent >= 0))
  const [execution] = await sameAsStored(client, 'skill-session')
  assert.equal(execution.name, 'execute_skill')
  assert.deepEqual(
    execution.processEvents.filter((step) => step.stage === 'count').map((step) => step.message),
    ['step 1', 'step 2', 'step 3'],
  )
  const stored = await rest('GET', 'sessions/skill-session/snapshot')
  const answer = stored.entries.find((entry) => entry.metadata?.toolExecutions)
  for (const step of steps) assert.equal(step.assistantEntryId, answer.id)
  assert.doesNotMatch(JSON.stringify(stored.runtimeContext.messages), /processEvent|latestProcessEvent|processLogRef/)
  client.close()
})

test('compact is a command in any case, and a second slash makes it a message', async () => {
  const summary = `The user told of a harbour. ${'Boats came and went, and nothing else happened. '.repeat(8)}`
  mock.onMessage('the-focus', { content: summary })
  mock.onMessage('tell-more', { content: 'The harbour was quiet. '.repeat(20) })
  mock.onMessage('/compact is a word', { content: 'so it is' })
  const client = await connect()
  for (let turn = 0; turn < 4; turn++) {
    await client.chat('long-session', `tell-more ${'about the quiet harbour and its boats '.repeat(200)}`)
  }
  client.socket.emit('chat', { sessionId: 'long-session', content: '/Compact the-focus' })
  fields(await client.wait('compaction_start'), ['reason', 'messageCount'])
  const done = await client.wait('compaction_done')
  const numbers = ['compactedCount', 'keepRecentCount', 'tokensBefore', 'tokensAfter']
  fields(done, ['success', 'summaryMessageId', 'summaryContent', ...numbers])
  assert.ok(done.keepRecentCount >= 2)
  assert.ok(done.tokensAfter < done.tokensBefore)
  await client.chat('short-session', 'tell-more')
  const requests = mock.getRequests().length
  client.socket.emit('compact', { sessionId: 'short-session' })
  const refused = await client.wait('compaction_error')
  fields(refused, ['message', 'retryable'])
  assert.deepEqual([refused.retryable, refused.words.zh], [false, '没有可压缩的历史消息'])
  assert.equal(mock.getRequests().length, requests, 'no model was asked')
  await client.chat('long-session', '//compact is a word')
  const page = await rest('GET', 'session/messages?sessionId=long-session&view=full&limit=2')
  assert.equal(page.items[0].message.content, '/compact is a word')
  assert.ok(page.cursor, 'there is more before it')
  const texts = JSON.stringify((await rest('GET', 'session/messages?sessionId=long-session&view=full')).items)
  assert.doesNotMatch(texts, /"\/Compact/)
  client.close()
})

test('labels carry a text and a time', async () => {
  mock.onMessage('label-this', { content: 'done' })
  const client = await connect()
  await client.chat('labelled', 'label-this')
  const { entry } = client.of('session_entry_added').find(({ entry }) => entry.message?.role === 'user')
  client.socket.emit('label', { sessionId: 'labelled', entryId: entry.id, label: 'here' })
  await client.wait('session_updated', client.of('session_updated').length + 1)
  const { labelsByEntryId } = await rest('GET', 'sessions/labelled/snapshot')
  assert.equal(labelsByEntryId[entry.id].label, 'here')
  assert.ok(Date.parse(labelsByEntryId[entry.id].timestamp) > 0)
  client.close()
})

test('channels are filtered by what they are for and by their status', async () => {
  const models = [{ name: 'small' }]
  const channel = { name: 'side', supplier: 'deepseek', baseUrl: `${mock.url}/v1`, models, isAuxiliary: true }
  await rest('POST', 'channels', { ...channel, status: 'enabled' })
  await rest('POST', 'channels', { ...channel, name: 'off', status: 'disabled' })
  const names = async (query) => (await rest('GET', `channels?${query}`)).items.map(({ name }) => name).toSorted()
  assert.deepEqual(await names('isAuxiliary=true'), ['off', 'side'])
  assert.deepEqual(await names('isAuxiliary=true&status=enabled'), ['side'])
  assert.deepEqual(await names('status=disabled'), ['off'])
  assert.ok((await names('isAuxiliary=false')).includes('mock'))
})

test('what fails is reported as an error, and a command that is refused as well', async () => {
  mock.onMessage('fail-now', { error: { message: 'no such thing', type: 'invalid_request_error' }, status: 400 })
  const client = await connect()
  const done = await client.chat('failing', 'fail-now')
  assert.equal(done.outcome, 'error')
  const error = await client.wait('error')
  fields(error, ['code', 'message'])
  client.socket.emit('chat', { sessionId: 'failing', content: 'hello', agentId: 404 })
  assert.equal((await client.wait('error', 2)).code, 'not_found')
  client.close()
})
