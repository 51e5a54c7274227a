// The least that a chat server can be: a Socket.IO relay between a browser and a model, which keeps
// nothing. NetaClaw's live benchmark measures itself beside it.
//
//   node bench-relay.mjs MODEL_URL
//
// Prints one line with its address when it is ready.

import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { Server } from 'socket.io'

const model = process.argv[2]
const http = createServer()
const io = new Server(http, { transports: ['websocket'] })

io.of('/netaclaw').on('connection', (socket) => {
  socket.on('chat', async ({ content }, answer) => {
    answer({ ok: true })
    const messages = [{ role: 'user', content }]
    for (;;) {
      const calls = await turn(socket, messages)
      if (calls.length === 0) break
      messages.push({ role: 'assistant', content: null, tool_calls: calls })
      for (const call of calls) {
        const text = readdirSync(JSON.parse(call.function.arguments).path).join('\n')
        messages.push({ role: 'tool', tool_call_id: call.id, content: text })
        socket.emit('tool_call_completed', { id: call.id, text })
      }
    }
    socket.emit('done', {})
  })
})

/** One answer of the model, passed on token by token; returns the tool calls it asks for. */
async function turn(socket, messages) {
  const response = await fetch(`${model}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: JSON.stringify({ model: 'bench', stream: true, messages, tools }),
  })
  const calls = []
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue
      const delta = JSON.parse(line.slice(6)).choices[0]?.delta
      if (delta?.content) socket.emit('assistant_stream_delta', { text: delta.content })
      for (const { index, ...call } of delta?.tool_calls ?? []) {
        const known = (calls[index] ??= {
          id: call.id,
          type: 'function',
          function: { name: call.function.name, arguments: '' },
        })
        known.function.arguments += call.function.arguments ?? ''
      }
    }
  }
  return calls
}

const tools = [
  {
    type: 'function',
    function: { name: 'ls', parameters: { type: 'object', properties: { path: { type: 'string' } } } },
  },
]

http.listen(0, '127.0.0.1', () => console.log(`ready at http://127.0.0.1:${http.address().port}`))
