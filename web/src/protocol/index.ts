/** The wire, as the server's own types tell it. */

import type { Agent, ChannelWrite, DeltaEvent, Envelope, ErrorCode, ReliableEvent, TokenIssued } from './types'

export * from './types'

/** What arrives about a session. Numbered ones are reliable, the others carry an offset. */
export type ServerEvent = Envelope<ReliableEvent> | Envelope<DeltaEvent>

/** The names of everything that arrives about a session. */
export type ServerEventName = ServerEvent['type']

/** An acknowledgement. */
export type Answer<Body> = ({ ok: true; deduped?: boolean } & Body) | { ok: false; code: ErrorCode; message: string }

/** Under this key stand the entries without a parent. */
export const ROOT = '__root__'

/** What every record of the configuration carries besides what somebody can set. */
type Stamped = 'id' | 'rev' | 'createdAt' | 'updatedAt'

export type AgentSpec = Omit<Agent, Stamped>
export type ChannelSpec = Omit<ChannelWrite, 'apiKey'>
export type Token = Omit<TokenIssued, 'secret'>
export type TokenSpec = Pick<Token, 'userId' | 'label' | 'scope' | 'expiresAt'>
