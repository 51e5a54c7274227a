/** Long sessions, as files that the server takes in. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Server } from './server.ts'

export interface Length {
  /** Each is a message and its answer. */
  turns: number
  /** Turns of which the answer comes after a tool call. */
  tools: number
}

const ANSWER = `Here is what I found. **Two things** matter, and \`main.rs\` shows both:

\`\`\`rust
fn main() {
    let answer = 6 * 7;
    println!("{answer}");
}
\`\`\`

- the first is where it begins
- the second is where it ends

| name | lines |
| --- | ---: |
| main.rs | 42 |
`

/** Imports a session of this length and returns its id. */
export async function importSession(server: Server, name: string, { turns, tools }: Length): Promise<string> {
  const lines: object[] = [{ type: 'session', version: 3, id: name, timestamp: at(0), cwd: server.place }]
  let last: string | null = null
  const add = (message: object) => {
    const id = lines.length.toString(16).padStart(8, '0')
    lines.push({
      type: 'message',
      id,
      parentId: last,
      timestamp: at(lines.length),
      message: { ...message, timestamp: START + lines.length * 1000 },
    })
    last = id
  }
  for (let turn = 0; turn < turns; turn++) {
    add({ role: 'user', content: `Question ${turn}: what is in part ${turn}?` })
    if (turn % Math.ceil(turns / tools) === 0) {
      const id = `call_${turn}`
      add({
        ...answer('toolUse'),
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'toolCall', id, name: 'read', arguments: { path: `part-${turn}.md` } },
        ],
      })
      const text = Array.from({ length: 40 }, (_, line) => `${line + 1}\tLine ${line} of part ${turn}`).join('\n')
      add({ role: 'toolResult', toolCallId: id, toolName: 'read', content: [{ type: 'text', text }], isError: false })
    }
    add({ ...answer('stop'), content: [{ type: 'text', text: `Part ${turn}. ${ANSWER}` }] })
  }
  const file = join(server.place, `${name}.jsonl`)
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  await server.run('session', 'import', file)
  return name
}

const START = Date.UTC(2026, 0, 1)
const at = (count: number) => new Date(START + count * 1000).toISOString()
const answer = (stopReason: string) => ({
  role: 'assistant',
  api: 'openai-completions',
  provider: 'fake',
  model: 'fake',
  usage: {
    input: 100,
    output: 20,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 120,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
  stopReason,
})
