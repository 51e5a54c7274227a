/**
 * A small MCP server on standard input and output, for tests: one tool that works in steps and tells of each, and one
 * that a test can see.
 */

import { createInterface } from 'node:readline'

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

const TOOLS = [
  {
    name: 'count',
    title: 'Count up',
    description: 'Counts in steps.',
    inputSchema: { type: 'object', properties: { to: { type: 'integer' } }, required: ['to'] },
  },
  { name: 'greet', description: 'Says hello.', inputSchema: { type: 'object' } },
]

function call({ name, arguments: args, _meta }) {
  if (name === 'greet') return 'hello from the test'
  for (let step = 1; step <= args.to; step++) {
    if (_meta?.progressToken === undefined) continue
    send({
      method: 'notifications/progress',
      params: { progressToken: _meta.progressToken, progress: step, total: args.to, message: `step ${step}` },
    })
  }
  return `counted to ${args.to}`
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  if (method === 'initialize') {
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'test', version: '1' },
      },
    })
  } else if (method === 'tools/list') send({ id, result: { tools: TOOLS } })
  else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: call(params) }] } })
  else send({ id, error: { code: -32601, message: 'not known' } })
}
