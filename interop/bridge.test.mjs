import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

let dir
let bridge

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bridge-'))
  bridge = startBridge()
})

after(async () => {
  assert.equal(await bridge.end(), 0, 'the bridge ends when its stdin does')
  await rm(dir, { recursive: true })
})

test('a created session has one id for each op, and $n refers to them', async () => {
  const created = await bridge.ask('create', {
    dir,
    cwd: '/srv/app',
    ops: [
      { op: 'message', message: user('one') },
      { op: 'message', message: assistant('two') },
      { op: 'label', targetId: '$0', label: 'start' },
      { op: 'branch', id: '$0' },
      { op: 'message', message: assistant('other two') },
      { op: 'name', name: 'a name' },
    ],
  })
  const [one, two, label, moved, otherTwo, name] = created.ids
  assert.equal(created.exists, true)
  assert.equal(moved, null)
  assert.equal(created.leafId, name)

  const opened = await bridge.ask('open', { file: created.file })
  assert.equal(opened.header.cwd, '/srv/app')
  assert.equal(opened.header.id, created.sessionId)
  assert.equal(opened.entries.length, 5)
  assert.equal(opened.leafId, name)
  assert.equal(opened.name, 'a name')
  assert.deepEqual(opened.labels, { [one]: 'start' })
  assert.deepEqual(opened.roots, [one])
  assert.deepEqual(opened.childrenByParentId, {
    [one]: [two, otherTwo],
    [two]: [label],
    [otherTwo]: [name],
  })
  assert.deepEqual(texts(opened.context), ['one', 'other two'])
})

test('contexts answers for every leaf asked for, in order', async () => {
  const { file, ids } = await bridge.ask('create', {
    dir,
    cwd: '/',
    ops: [
      { op: 'model', provider: 'demo', modelId: 'demo-0' },
      { op: 'thinking', thinkingLevel: 'high' },
      { op: 'message', message: user('12345') },
      { op: 'message', message: assistant('answer') },
      { op: 'message', message: user('more') },
      { op: 'compaction', summary: 'short', firstKeptEntryId: '$4', tokensBefore: 99 },
    ],
  })
  const contexts = await bridge.ask('contexts', { file, leaves: [null, ids[2], ids[5]] })
  assert.deepEqual(contexts[0], { messages: [], thinkingLevel: 'off', model: null, tokens: 0 })
  assert.deepEqual(texts(contexts[1]), ['12345'])
  assert.equal(contexts[1].tokens, 2, 'a quarter of the characters, rounded up')
  assert.equal(contexts[1].thinkingLevel, 'high')
  assert.deepEqual(contexts[1].model, { provider: 'demo', modelId: 'demo-0' })
  assert.deepEqual(
    contexts[2].messages.map((message) => message.role),
    ['compactionSummary', 'user'],
  )
  assert.deepEqual(contexts[2].model, { provider: 'demo', modelId: 'demo-1' })
})

test('continue appends to the file and leaves what was there alone', async () => {
  const { file } = await bridge.ask('create', { dir, cwd: '/', ops: answered() })
  const before = await readFile(file, 'utf8')
  const { ids, leafId } = await bridge.ask('continue', {
    file,
    ops: [
      { op: 'reset' },
      { op: 'message', message: user('another root') },
      { op: 'branchSummary', id: '$1', summary: 'was elsewhere' },
      { op: 'custom', customType: 'x', data: { n: 1 } },
      { op: 'customMessage', customType: 'y', content: 'seen', display: false },
    ],
  })
  assert.equal(leafId, ids[4])
  const after = await readFile(file, 'utf8')
  assert.ok(after.startsWith(before))
  assert.equal(after.split('\n').length, before.split('\n').length + 4)

  const { roots, context } = await bridge.ask('open', { file })
  assert.equal(roots.length, 2)
  assert.deepEqual(
    context.messages.map((message) => message.role),
    ['user', 'branchSummary', 'custom'],
  )
})

test('fork copies a path, forkFrom a whole file, and list shows all three', async () => {
  const home = await mkdtemp(join(dir, 'fork-'))
  const ops = [...answered(), { op: 'message', message: user('later') }]
  const source = await bridge.ask('create', { dir: home, cwd: '/', ops })
  const path = await bridge.ask('fork', { file: source.file, leafId: source.ids[1], dir: home })
  const whole = await bridge.ask('forkFrom', { file: source.file, cwd: '/new', dir: home })

  const opened = await bridge.ask('open', { file: path.file })
  assert.deepEqual(
    opened.entries.map((entry) => entry.id),
    source.ids.slice(0, 2),
  )
  assert.equal(opened.header.parentSession, source.file)
  assert.equal((await bridge.ask('open', { file: whole.file })).entries.length, 3)

  const listed = await bridge.ask('list', { dir: home, cwd: '/' })
  assert.deepEqual(
    new Set(listed.map((session) => session.id)),
    new Set([source, path, whole].map((session) => session.sessionId)),
  )
})

test('a session without an answer is not on disk yet', async () => {
  const ops = [{ op: 'message', message: user('anyone?') }]
  const created = await bridge.ask('create', { dir, cwd: '/', ops })
  assert.equal(created.exists, false)
})

test('line separators and long lines pass through both pipes', async () => {
  const text = `\u2028 \u2029 \r 你好 😀 ${'x'.repeat(1 << 20)}`
  const ops = [{ op: 'message', message: user(text) }, ...answered()]
  const { file } = await bridge.ask('create', { dir, cwd: '/', ops })
  const { context } = await bridge.ask('open', { file })
  assert.equal(texts(context)[0], text)
})

test('files that Pi would make or overwrite are refused and left alone', async () => {
  const missing = join(dir, 'missing.jsonl')
  await assert.rejects(bridge.ask('open', { file: missing }), /no such file/)
  await assert.rejects(readFile(missing), { code: 'ENOENT' })

  const damaged = join(dir, 'damaged.jsonl')
  await writeFile(damaged, 'not a session\n')
  await assert.rejects(bridge.ask('open', { file: damaged }), /would overwrite/)
  assert.equal(await readFile(damaged, 'utf8'), 'not a session\n')
})

test('a leaf that Pi fails on does not hide the others', async () => {
  const { file, ids } = await bridge.ask('create', { dir, cwd: '/', ops: answered() })
  const broken = { type: 'message', id: 'broken', parentId: ids[1], timestamp: '2026-01-01T00:00:00.000Z' }
  await appendFile(file, `${JSON.stringify(broken)}\n`)
  const [good, bad] = await bridge.ask('contexts', { file, leaves: [ids[1], 'broken'] })
  assert.deepEqual(texts(good), ['question', 'answer'])
  assert.match(bad.error, /role/)
})

test('bad requests are answered, not fatal', async () => {
  await assert.rejects(bridge.ask('nonsense', {}), /unknown command/)
  await assert.rejects(bridge.ask('create', { dir, cwd: '/', ops: [{ op: 'nonsense' }] }), /unknown op/)
  await assert.rejects(bridge.ask('create', { dir, cwd: '/', ops: [{ op: 'branch', id: 'no' }] }), /op 0/)
  await assert.rejects(bridge.ask('create', { cwd: '/', ops: [] }), /dir is missing/)
  assert.equal((await bridge.ask('version', {})).pi, '0.73.1')
})

function startBridge() {
  const script = fileURLToPath(new URL('pi-bridge.mjs', import.meta.url))
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const waiting = new Map()
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (text + chunk).split('\n')
    text = lines.pop()
    for (const line of lines) {
      const { id, ok, result, error } = JSON.parse(line)
      const { resolve, reject } = waiting.get(id)
      waiting.delete(id)
      ok ? resolve(result) : reject(new Error(error))
    }
  })
  // A bridge that dies must fail the tests that wait for it, rather than leave them waiting.
  child.on('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the bridge ended with ${code}`))
  })
  let lastId = 0
  return {
    ask(cmd, request) {
      const id = ++lastId
      child.stdin.write(`${JSON.stringify({ ...request, id, cmd })}\n`)
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
    },
    async end() {
      child.stdin.end()
      const [code] = await exited
      return code
    },
  }
}

function answered() {
  return [
    { op: 'message', message: user('question') },
    { op: 'message', message: assistant('answer') },
  ]
}

function user(text) {
  return { role: 'user', content: [{ type: 'text', text }], timestamp: 1 }
}

function assistant(text) {
  const message = { role: 'assistant', content: [{ type: 'text', text }], provider: 'demo', model: 'demo-1' }
  return { ...message, api: 'openai-completions', stopReason: 'stop', timestamp: 2 }
}

function texts(context) {
  return context.messages.map((message) => message.content[0].text)
}
