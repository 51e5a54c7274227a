/** Tokens as the settings page shows them. Pure: the time is an argument. */

import type { Token, TokenScope } from '@/protocol'

export const SCOPES = ['full', 'chat', 'read'] as const satisfies readonly TokenScope[]

/** What the server calls the tokens that it gives to browsers. */
const BROWSER = 'browser'

/** What most programs need: to use agents, without access to the configuration. */
export const SCOPE_FOR_NEW: TokenScope = 'chat'

/** The name of a token; null if it has none. */
export function tokenName(token: Token, browser: string): string | null {
  return token.label === BROWSER ? browser : token.label || null
}

/** Whether a browser got it when it logged in. */
export const isBrowserLogin = (token: Token): boolean => token.label === BROWSER

export type TokenState = 'live' | 'expired' | 'revoked'

export function tokenState(token: Token, now: number): TokenState {
  if (token.revokedAt !== null) return 'revoked'
  return token.expiresAt !== null && token.expiresAt <= now ? 'expired' : 'live'
}

/** Those that open something first, the newest of them first. */
export const sortedTokens = (tokens: readonly Token[], now: number): Token[] =>
  tokens.toSorted(
    (a, b) =>
      Number(tokenState(a, now) !== 'live') - Number(tokenState(b, now) !== 'live') || b.createdAt - a.createdAt,
  )

export const LIFETIMES = ['30', '90', '365', 'never'] as const
export type Lifetime = (typeof LIFETIMES)[number]

const DAY_MS = 86_400_000

export const expiry = (lifetime: Lifetime, now: number): number | null =>
  lifetime === 'never' ? null : now + Number(lifetime) * DAY_MS
