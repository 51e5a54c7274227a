// Sends a message over Socket.IO and prints the answer while it is written.

import { io } from 'socket.io-client'

const url = process.env.NETACLAW_URL ?? 'http://127.0.0.1:7300'
const token = process.env.NETACLAW_TOKEN ?? ''
const content = process.argv[2] ?? 'hello'

/** A piece of a part of the answer. Its place is counted in Unicode characters, not in UTF-16 units. */
interface Delta {
  data: { kind: string; offset: number; text: string }
}

const socket = io(`${url}/netaclaw`, { auth: { token } })
let shown = 0

socket.on('connect_error', (error) => {
  console.error(`cannot connect: ${error.message}`)
  process.exit(1)
})

// A delta can repeat text that has arrived already: print only what is new.
socket.on('assistant_stream_delta', ({ data }: Delta) => {
  if (data.kind !== 'text') return
  const text = [...data.text].slice(Math.max(0, shown - data.offset))
  process.stdout.write(text.join(''))
  shown += text.length
})

// Every model call of the run writes a new answer.
socket.on('assistant_stream_start', () => {
  if (shown > 0) process.stdout.write('\n')
  shown = 0
})

socket.on('error', (event: { data: { message: string } }) => console.error(event.data.message))

socket.on('done', () => {
  process.stdout.write('\n')
  socket.close()
})

// Without a session id, the message starts a new session; its events arrive on this socket.
const reply = await socket.emitWithAck('chat', { content, requestId: crypto.randomUUID() })
if (!reply.ok) {
  console.error(`${reply.code}: ${reply.message}`)
  socket.close()
  process.exitCode = 1
}
