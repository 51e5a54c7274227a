// Starts NetaClaw as an MCP server, lists the tools of its default agent and calls one.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const command = process.env.NETACLAW ?? 'netaclaw'

const client = new Client({ name: 'example', version: '1.0.0' })
// Calls that need approval are refused unless you add '--yes'.
await client.connect(
  new StdioClientTransport({ command, args: ['mcp', 'serve'], env: { ...process.env } as Record<string, string> }),
)

const { tools } = await client.listTools()
for (const tool of tools) console.log(`${tool.name}: ${tool.title ?? ''}`)

const result = await client.callTool({ name: 'ls', arguments: { path: '.' } })
console.log(JSON.stringify(result.content, null, 2))

await client.close()
