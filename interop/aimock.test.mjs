// A second opinion on the wire formats of models: not our own fake, but a mock that others wrote.
// NetaClaw is the real binary, with a channel for each API.

import { LLMock } from '@copilotkit/aimock'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, afterEach, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const targetDir = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../target', import.meta.url))
const binary = process.env.NETACLAW_BIN ?? join(targetDir, 'debug', 'netaclaw')
// Small pieces, so that words, escapes and tool arguments are cut in the middle.
const mock = new LLMock({ port: 0, chunkSize: 5, strict: true })
let dir

before(async () => {
  assert.ok(existsSync(binary), 'NetaClaw is not built; run `cargo build -p netaclaw`')
  await mock.start()
})

after(() => mock.stop())

/** Runs NetaClaw on the data directory. */
async function netaclaw(args, input = '') {
  const env = { PATH: process.env.PATH, HOME: dir, OLLAMA_HOST: '127.0.0.1:1', KEY: 'sk-mock', LC_ALL: 'C' }
  const child = spawn(binary, ['--data-dir', join(dir, 'data'), ...args], { cwd: dir, env })
  child.stdin.end(input)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

/** Says something and gives what was answered and stored. */
async function chat(...lines) {
  const ran = await netaclaw(['chat'], lines.map((line) => `${line}\n`).join(''))
  assert.equal(ran.code, 0, ran.err)
  const id = /--session (\S+)/.exec(ran.err)[1]
  const shown = JSON.parse((await netaclaw(['session', 'show', id, '--json'])).out)
  const messages = shown.entries.flatMap((entry) => entry.message ?? [])
  return { ...ran, answers: messages.filter((message) => message.role === 'assistant'), messages }
}

/** The requests of the run itself: a title may be requested at any time after the first answer. */
const asked = () => mock.getRequests().filter((entry) => entry.method === 'POST' && !isForTitle(entry))
const isForTitle = (entry) => JSON.stringify(entry.body).includes('You write titles for conversations')
const part = (answer, type) => answer.content.find((block) => block.type === type)

const apis = [
  {
    name: 'OpenAI',
    add: () => ['--supplier', 'deepseek', '--base-url', `${mock.url}/v1`, '--model', 'deepseek-chat:64k'],
    path: '/v1/chat/completions',
  },
  {
    name: 'Anthropic',
    add: () => ['--supplier', 'anthropic', '--base-url', mock.url, '--model', 'claude-haiku-4-5'],
    path: '/v1/messages',
  },
]

for (const { name, add, path } of apis) {
  describe(name, () => {
    before(async () => {
      dir = mkdtempSync(join(tmpdir(), 'neta-aimock-'))
      const added = await netaclaw(['channel', 'add', 'mock', ...add(), '--api-key-env', 'KEY', '--default'])
      assert.equal(added.code, 0, added.err)
    })
    after(() => rmSync(dir, { recursive: true, force: true }))
    afterEach(() => mock.reset())

    test('text in small pieces, with its usage', async () => {
      const said = 'Grüße, 你好 👋 — "quoted" \\ and\nmore'
      mock.onMessage('hello', { content: said, usage: usage(21, 9) })
      const { out, answers } = await chat('hello')
      assert.equal(out, `${said}\n`)
      const [answer] = answers
      assert.equal(answer.stopReason, 'stop')
      assert.deepEqual([answer.usage.input, answer.usage.output], [21, 9])
      assert.equal(asked()[0].path, path)
    })

    test('thinking, and what proves it', async () => {
      const thinking = 'First this, then that; 想一想.'
      mock.onMessage('hello', { content: 'done', reasoning: thinking, reasoningSignature: 'c2lnbmF0dXJl' })
      mock.onMessage('again', { content: 'done again' })
      const { answers } = await chat('hello', 'again')
      assert.equal(part(answers[0], 'thinking').thinking, thinking)
      assert.equal(part(answers[0], 'text').text, 'done')
      assert.equal(part(answers[1], 'text').text, 'done again')
      if (name === 'Anthropic') assert.equal(part(answers[0], 'thinking').thinkingSignature, 'c2lnbmF0dXJl')
    })

    test('parallel tool calls whose arguments come in pieces, and their results', async () => {
      const calls = [
        { id: 'call_a', name: 'ls', arguments: '{"path": "."}' },
        { id: 'call_b', name: 'todo', arguments: '{"items": [{"text": "牛奶 \\"fresh\\"", "status": "pending"}]}' },
      ]
      mock.on({ userMessage: 'work', hasToolResult: true }, { content: 'all done' })
      mock.on({ userMessage: 'work' }, { toolCalls: calls, reasoning: 'tools then' })
      const { out, answers, messages } = await chat('work')
      assert.match(out, /all done\n$/)
      const made = answers[0].content.filter((block) => block.type === 'toolCall')
      assert.deepEqual(
        made.map((call) => [call.id, call.name]),
        calls.map((call) => [call.id, call.name]),
      )
      assert.deepEqual(
        made.map((call) => call.arguments),
        calls.map((call) => JSON.parse(call.arguments)),
      )
      assert.equal(answers[0].stopReason, 'toolUse')
      const results = messages.filter((message) => message.role === 'toolResult')
      assert.deepEqual(
        results.map((result) => result.toolCallId),
        ['call_a', 'call_b'],
      )
      assert.equal(asked().length, 2, 'the results went back once')
    })

    test('429 with Retry-After is waited for', async () => {
      const limited = { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429, retryAfter: 2 }
      mock.on({ userMessage: 'hello', sequenceIndex: 0 }, limited)
      mock.on({ userMessage: 'hello', sequenceIndex: 1 }, { content: 'at last' })
      const { out, answers } = await chat('hello')
      assert.equal(out, 'at last\n')
      assert.equal(answers.length, 1, 'what was refused left nothing behind')
      const [refused, taken] = asked()
      assert.deepEqual([refused.response.status, taken.response.status, asked().length], [429, 200, 2])
      assert.ok(taken.timestamp - refused.timestamp >= 2000, 'not before its time')
    })
  })
}

/** The same numbers under the names of both APIs. */
function usage(input, output) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
  }
}
