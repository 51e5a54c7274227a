/** The one way to the REST interface: same origin, the cookie of the login, JSON both ways. */

import { ApiError, refusal } from './problem'

export const BASE = '/admin/netaclaw/'

export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** What is absent or empty is left out. */
  query?: Record<string, string | number | null | undefined>
  /** Sent as JSON, or as it is if it is a form. */
  body?: unknown
  /** The revision of the record that the change is based on. */
  rev?: number
  signal?: AbortSignal | undefined
}

/** Carries out a request. Throws `ApiError`, or the signal's reason if it was given up. */
export async function request<Answer>(path: string, ask: Ask = {}): Promise<Answer> {
  const response = await send(address(path, ask.query), options(ask))
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as Answer
  const error = await refusal(response)
  if (error.code === 'unauthorized' && path !== 'login') for (const listener of unauthorized) listener()
  throw error
}

const unauthorized = new Set<() => void>()

/** Calls back when the server rejects the credentials. Returns a function that unsubscribes. */
export function onUnauthorized(listener: () => void): () => void {
  unauthorized.add(listener)
  return () => unauthorized.delete(listener)
}

function address(path: string, query: Ask['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value))
  }
  return BASE + path + (search.size > 0 ? `?${search}` : '')
}

function options(ask: Ask): RequestInit {
  const headers = new Headers({ accept: 'application/json' })
  const init: RequestInit = { method: ask.method ?? 'GET', headers, credentials: 'same-origin', cache: 'no-store' }
  if (ask.signal) init.signal = ask.signal
  if (ask.rev !== undefined) headers.set('if-match', `"${ask.rev}"`)
  if (ask.body instanceof FormData) init.body = ask.body
  else if (ask.body !== undefined) {
    headers.set('content-type', 'application/json')
    init.body = JSON.stringify(ask.body)
  }
  return init
}

async function send(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new ApiError('unreachable', error instanceof Error ? error.message : String(error))
  }
}
