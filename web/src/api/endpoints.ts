/** The REST endpoints, by noun. A change names the revision that it is based on. */

import type {
  About,
  Agent,
  AgentListItem,
  AgentPreview,
  AgentSpec,
  ApprovalListItem,
  AuditPage,
  ChannelModels,
  ChannelTest,
  ChannelTry,
  ChannelView,
  ChannelWrite,
  ContextBreakdown,
  DictInfo,
  DictInfoSpec,
  DictType,
  EffectiveTools,
  Listing,
  Login,
  McpServerInfo,
  McpServerTest,
  McpServerTry,
  McpServerView,
  McpServerWrite,
  Me,
  Memory,
  MemorySpec,
  ModelInfo,
  NewUser,
  OwnPassword,
  ProcessLogPage,
  Setting,
  SkillDetail,
  SkillTried,
  SkillTry,
  SkillView,
  SupplierOption,
  Token,
  TokenIssued,
  TokenSpec,
  ToolDetail,
  ToolInfo,
  ToolRecord,
  ToolSwitch,
  User,
  UserWrite,
} from '@/protocol'
import { BASE, request } from './client'

type Signal = AbortSignal | undefined

const at = (...parts: string[]): string => parts.map(encodeURIComponent).join('/')

/** Where the picture of an entry can be had, for an `<img>`. */
export const imageAddress = (sessionId: string, entryId: string, number: number): string =>
  BASE + at('sessions', sessionId, 'entries', entryId, 'images', String(number))

export const api = {
  login: (body: Login) => request<Me>('login', { method: 'POST', body }),
  logout: () => request<void>('logout', { method: 'POST' }),
  me: () => request<Me>('me'),
  about: (signal?: Signal) => request<About>('about', { signal }),

  agents: {
    list: (signal?: Signal) => request<Listing<AgentListItem>>('agents', { signal }),
    get: (id: string, signal?: Signal) => request<Agent>(at('agents', id), { signal }),
    create: (body: AgentSpec) => request<Agent>('agents', { method: 'POST', body }),
    replace: (id: string, rev: number, body: AgentSpec) =>
      request<Agent>(at('agents', id), { method: 'PUT', rev, body }),
    delete: (id: string, rev: number) => request<void>(at('agents', id), { method: 'DELETE', rev }),
    /** Every tool for it, and why it is on or off. */
    tools: (id: string, signal?: Signal) => request<EffectiveTools>(at('agents', id, 'tools'), { signal }),
    /** What an agent like this would be told and could use; nothing is kept. */
    preview: (body: AgentSpec, seat: 'main' | 'subagent', signal?: Signal) =>
      request<AgentPreview>('agents/preview', {
        method: 'POST',
        query: { asSubagent: seat === 'subagent' ? 'true' : null },
        body,
        signal,
      }),
  },

  channels: {
    list: (signal?: Signal) => request<Listing<ChannelView>>('channels', { signal }),
    get: (id: string, signal?: Signal) => request<ChannelView>(at('channels', id), { signal }),
    create: (body: ChannelWrite) => request<ChannelView>('channels', { method: 'POST', body }),
    replace: (id: string, rev: number, body: ChannelWrite) =>
      request<ChannelView>(at('channels', id), { method: 'PUT', rev, body }),
    delete: (id: string, rev: number) => request<void>(at('channels', id), { method: 'DELETE', rev }),
    test: (id: string, signal?: Signal) => request<ChannelTest>(at('channels', id, 'test'), { method: 'POST', signal }),
    /** Tries a channel that is not kept (yet). */
    try: (body: ChannelTry, signal?: Signal) => request<ChannelTest>('channels/test', { method: 'POST', body, signal }),
  },

  tools: {
    list: (signal?: Signal) => request<Listing<ToolInfo>>('tools', { signal }),
    get: (name: string, signal?: Signal) => request<ToolDetail>(at('tools', name), { signal }),
    /** The global setting. */
    switch: (name: string, rev: number, body: ToolSwitch) =>
      request<ToolRecord>(at('tools', name), { method: 'PATCH', rev, body }),
  },

  mcpServers: {
    list: (signal?: Signal) => request<Listing<McpServerInfo>>('mcp-servers', { signal }),
    get: (id: string, signal?: Signal) => request<McpServerInfo>(at('mcp-servers', id), { signal }),
    create: (body: McpServerWrite) => request<McpServerView>('mcp-servers', { method: 'POST', body }),
    replace: (id: string, rev: number, body: McpServerWrite) =>
      request<McpServerView>(at('mcp-servers', id), { method: 'PUT', rev, body }),
    delete: (id: string, rev: number) => request<void>(at('mcp-servers', id), { method: 'DELETE', rev }),
    test: (id: string, signal?: Signal) =>
      request<McpServerTest>(at('mcp-servers', id, 'test'), { method: 'POST', signal }),
    /** Tries a server that is not kept (yet). */
    try: (body: McpServerTry, signal?: Signal) =>
      request<McpServerTest>('mcp-servers/test', { method: 'POST', body, signal }),
  },

  skills: {
    /** Every skill that is found, as it stands for an agent; without one, for the default agent. */
    list: (agentId: string | null, signal?: Signal) =>
      request<Listing<SkillView>>('skills', { query: { agentId }, signal }),
    get: (name: string, agentId: string | null, signal?: Signal) =>
      request<SkillDetail>(at('skills', name), { query: { agentId }, signal }),
    /** Runs it in a session of its own, which can be watched. */
    try: (name: string, body: SkillTry) => request<SkillTried>(at('skills', name, 'try'), { method: 'POST', body }),
  },

  /** What fills the context of a session's model. */
  context: (sessionId: string, signal?: Signal) =>
    request<ContextBreakdown>(at('sessions', sessionId, 'context'), { signal }),

  /** Everything that a call has told of its steps; the first page is 1. */
  processLog: (query: { sessionId: string; operationId: string; page: number; size: number }, signal?: Signal) =>
    request<ProcessLogPage>('session/process_log', { query, signal }),

  models: (signal?: Signal) => request<Listing<ChannelModels>>('models', { signal }),
  /** What is known about models by their names alone. */
  lookUp: (names: readonly string[], signal?: Signal) =>
    request<Listing<ModelInfo>>('models/lookup', { method: 'POST', body: { names }, signal }),
  suppliers: (signal?: Signal) => request<Listing<SupplierOption>>('suppliers', { signal }),

  dictionary: {
    list: (signal?: Signal) => request<Listing<DictType>>('dictionary', { signal }),
    replace: (id: string, rev: number, body: DictInfoSpec) =>
      request<DictInfo>(at('dictionary-entries', id), { method: 'PUT', rev, body }),
    /** Sets a setting that has no value yet. */
    set: (group: string, name: string, value: string) =>
      request<DictInfo>(at('dictionary-values', group, name), { method: 'PUT', body: { value } }),
  },

  settings: {
    list: (signal?: Signal) => request<Listing<Setting>>('settings', { signal }),
    /** Without a revision it is set for the first time. */
    put: (name: string, rev: number | undefined, value: unknown) =>
      request<Setting>(at('settings', name), { method: 'PUT', ...(rev === undefined ? {} : { rev }), body: { value } }),
    delete: (name: string, rev: number) => request<void>(at('settings', name), { method: 'DELETE', rev }),
  },

  audit: (query: { page: number; size: number }, signal?: Signal) => request<AuditPage>('audit', { query, signal }),

  memories: {
    /** One's own facts, the newest first; with words those they are about, the most relevant first. */
    list: (query: string, signal?: Signal) =>
      request<Listing<Memory>>(query ? `memories?query=${encodeURIComponent(query)}` : 'memories', { signal }),
    create: (body: MemorySpec) => request<Memory>('memories', { method: 'POST', body }),
    replace: (id: string, rev: number, body: MemorySpec) =>
      request<Memory>(at('memories', id), { method: 'PUT', rev, body }),
    /** Makes a pending fact one that agents know. */
    confirm: (id: string, rev: number) => request<Memory>(`${at('memories', id)}/confirm`, { method: 'POST', rev }),
    delete: (id: string, rev: number) => request<void>(at('memories', id), { method: 'DELETE', rev }),
  },

  account: {
    changePassword: (body: OwnPassword) => request<void>('me/password', { method: 'PUT', body }),
  },
  users: {
    list: (signal?: Signal) => request<Listing<User>>('users', { signal }),
    create: (body: NewUser) => request<User>('users', { method: 'POST', body }),
    replace: (id: string, rev: number, body: UserWrite) => request<User>(at('users', id), { method: 'PUT', rev, body }),
    delete: (id: string, rev: number) => request<void>(at('users', id), { method: 'DELETE', rev }),
  },

  approvals: {
    list: (all: boolean, signal?: Signal) =>
      request<Listing<ApprovalListItem>>('approvals', { query: all ? { all: 'true' } : {}, signal }),
    revoke: (id: string, sessionId: string | null) =>
      request<void>(at('approvals', id), { method: 'DELETE', query: sessionId === null ? {} : { sessionId } }),
    revokeAll: (all: boolean) => request<void>('approvals', { method: 'DELETE', query: all ? { all: 'true' } : {} }),
  },

  tokens: {
    list: (signal?: Signal) => request<Listing<Token>>('tokens', { signal }),
    /** The answer holds the secret, once. */
    issue: (body: TokenSpec) => request<TokenIssued>('tokens', { method: 'POST', body }),
    revoke: (id: string) => request<Token>(at('tokens', id), { method: 'DELETE' }),
  },
}
