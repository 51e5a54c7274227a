/**
 * A model server that speaks OpenAI's chat completions and says what the test tells it to, when the
 * test tells it to: an answer is a list of steps, and a hold is a step that waits for the test.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Step =
  | { kind: 'text'; text: string }
  | { kind: 'thinking'; text: string }
  | { kind: 'call'; name: string; args: unknown }
  | { kind: 'hold'; hold: Hold }
  | { kind: 'flow'; tokens: readonly string[]; perSecond: number }
  | { kind: 'fail'; status: number; message: string }

/** A point in an answer that the test can wait for, and at which the answer waits for the test. */
export class Hold {
  readonly reached: Promise<void>
  readonly #released: Promise<void>
  #reach!: () => void
  release!: () => void

  constructor() {
    this.reached = new Promise((resolve) => (this.#reach = resolve))
    this.#released = new Promise((resolve) => (this.release = resolve))
  }

  async wait(): Promise<void> {
    this.#reach()
    await this.#released
  }
}

export interface ModelRequest {
  readonly model: string
  readonly messages: { role: string; content: unknown; tool_call_id?: string }[]
  readonly tools?: { function: { name: string } }[]
}

export const say = (text: string): Step => ({ kind: 'text', text })
export const think = (text: string): Step => ({ kind: 'thinking', text })
export const call = (name: string, args: unknown): Step => ({ kind: 'call', name, args })
export const hold = (hold: Hold): Step => ({ kind: 'hold', hold })
/** Pieces at a steady pace. */
export const flow = (tokens: readonly string[], perSecond: number): Step => ({ kind: 'flow', tokens, perSecond })
export const fail = (status: number, message: string): Step => ({ kind: 'fail', status, message })
/** One step for each word, as a model would stream them. */
export const words = (text: string): Step[] => (text.match(/\s*\S+/g) ?? []).map(say)

export class FakeModel {
  readonly requests: ModelRequest[] = []
  /** Bills by the length of what it read and said; else always the same. */
  billsByLength = false
  /** What the server says its models are. */
  models: readonly string[] = ['fake']
  /** What a session is called. Titles are asked for behind the back of a test, so they take no answer from its script. */
  title: (asked: ModelRequest) => string = firstLine
  /** What each answer was said to have cost, in tokens. */
  readonly billed: number[] = []
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  readonly #script: Step[][] = []

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  /** Adds the answer to the next request that has none yet. */
  next(...steps: (Step | Step[])[]): void {
    this.#script.push(steps.flat())
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that goes away ends the answer; that is no concern of the test.
    response.on('error', () => {})
    if (request.method === 'GET')
      return json(response, 200, { object: 'list', data: this.models.map((id) => ({ id, object: 'model' })) })
    const asked = JSON.parse(await body(request)) as ModelRequest & { stream?: boolean }
    if (isForTitle(asked)) {
      const steps = [say(this.title(asked))]
      if (asked.stream !== true) return json(response, 200, whole(steps, USAGE))
      return await stream(response, steps, USAGE)
    }
    this.requests.push(asked)
    const steps = this.#script.shift() ?? words(`You said: ${lastWords(asked)}`)
    const failure = steps.find((step) => step.kind === 'fail')
    if (failure) return json(response, failure.status, { error: { message: failure.message, type: 'server_error' } })
    const usage = this.billsByLength ? usageOf(asked, steps) : USAGE
    this.billed.push(usage.total_tokens)
    if (asked.stream !== true) return json(response, 200, whole(steps, usage))
    await stream(response, steps, usage)
  }
}

const isForTitle = ({ messages }: ModelRequest): boolean =>
  JSON.stringify(messages[0]?.content).includes('You write titles for conversations.')

/** What the session is called already, so that nothing changes. */
function firstLine(asked: ModelRequest): string {
  const lines = lastWords(asked).split('\n')
  return lines.find((line) => line !== '<user>' && line.trim() !== '') ?? 'A title'
}

async function stream(response: ServerResponse, steps: Step[], usage: object): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta: object, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ id: 'fake', object: 'chat.completion.chunk', model: 'fake', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    )
  send({ role: 'assistant', content: '' })
  let calls = 0
  for (const step of steps) {
    if (response.destroyed) return
    if (step.kind === 'text') send({ content: step.text })
    else if (step.kind === 'thinking') send({ reasoning_content: step.text })
    else if (step.kind === 'hold') await step.hold.wait()
    else if (step.kind === 'flow') await paced(response, step, (text) => send({ content: text }))
    else if (step.kind === 'call') send({ tool_calls: [toolCall(step, calls++)] })
  }
  send({}, calls > 0 ? 'tool_calls' : 'stop')
  response.write(
    `data: ${JSON.stringify({ id: 'fake', object: 'chat.completion.chunk', model: 'fake', choices: [], usage })}\n\n`,
  )
  response.end('data: [DONE]\n\n')
}

/** Sends what is due by the clock, so that a slow moment is made up for. */
async function paced(
  response: ServerResponse,
  { tokens, perSecond }: { tokens: readonly string[]; perSecond: number },
  send: (text: string) => void,
): Promise<void> {
  const began = performance.now()
  for (let sent = 0; sent < tokens.length && !response.destroyed;) {
    await new Promise((resolve) => setTimeout(resolve, 1000 / perSecond))
    const due = Math.min(tokens.length, Math.floor(((performance.now() - began) / 1000) * perSecond))
    while (sent < due) send(tokens[sent++]!)
  }
}

const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
const textOf = (steps: readonly Step[]): string =>
  steps.flatMap((step) => (step.kind === 'text' ? [step.text] : [])).join('')

/** Four letters are a token. */
function usageOf(asked: ModelRequest, steps: readonly Step[]): typeof USAGE {
  const [prompt, completion] = [JSON.stringify([asked.messages, asked.tools ?? []]), textOf(steps)].map((text) =>
    Math.ceil(text.length / 4),
  ) as [number, number]
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

let callCount = 0

function toolCall(step: { name: string; args: unknown }, index: number): object {
  return {
    index,
    id: `call_${++callCount}`,
    type: 'function',
    function: { name: step.name, arguments: JSON.stringify(step.args) },
  }
}

function whole(steps: Step[], usage: object): object {
  const content = textOf(steps)
  return {
    id: 'fake',
    object: 'chat.completion',
    model: 'fake',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage,
  }
}

function lastWords(asked: ModelRequest): string {
  const content = asked.messages.findLast((message) => message.role === 'user')?.content
  return typeof content === 'string' ? content : JSON.stringify(content)
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

async function body(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
