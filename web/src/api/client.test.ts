import { afterEach, describe, expect, test, vi } from 'vitest'
import { i18n } from '@/i18n'
import { onUnauthorized, request } from './client'
import { ApiError } from './problem'

/** What went out, when the server answers `status` with `body`. */
async function asked(status: number, body: unknown, ask: () => Promise<unknown>, headers: Record<string, string> = {}) {
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
  const fetch = vi.fn(async (_address: string, _init: RequestInit) => new Response(text, { status, headers }))
  vi.stubGlobal('fetch', fetch)
  const outcome = await ask().then(
    (answer) => ({ answer, error: null }),
    (error: unknown) => ({ answer: null, error }),
  )
  const [address, init] = fetch.mock.calls[0]!
  return { ...outcome, address, init, headers: init.headers as Headers }
}

afterEach(() => vi.unstubAllGlobals())

describe('request', () => {
  test('asks for JSON with the cookie, and leaves out what is not asked', async () => {
    const seen = await asked(200, { items: [] }, () =>
      request('agents', { query: { q: 'a b', page: 2, status: '', userId: null } }),
    )
    expect(seen.address).toBe('/admin/netaclaw/agents?q=a+b&page=2')
    expect(seen.init).toMatchObject({ method: 'GET', credentials: 'same-origin', cache: 'no-store' })
    expect(seen.init.body).toBeUndefined()
    expect(seen.answer).toEqual({ items: [] })
  })

  test('a refusal is shown in the language of the page', async () => {
    i18n.global.locale.value = 'zh'
    const words = { zh: '没有这个会话', en: 'there is no such session' }
    const body = { code: 'not_found', message: words.en, words }
    const { error } = await asked(404, body, () => request('sessions/s'))
    i18n.global.locale.value = 'en'
    expect((error as ApiError).message).toBe(words.zh)
    const again = await asked(404, body, () => request('sessions/s'))
    expect((again.error as ApiError).message).toBe('There is no such session')
  })

  test('writes JSON for the revision that was seen', async () => {
    const seen = await asked(200, { rev: 8 }, () =>
      request('agents/a', { method: 'PUT', body: { name: '通用' }, rev: 7 }),
    )
    expect(seen.headers.get('if-match')).toBe('"7"')
    expect(seen.headers.get('content-type')).toBe('application/json')
    expect(seen.init.body).toBe('{"name":"通用"}')
  })

  test('lets the browser say what a form is', async () => {
    const form = new FormData()
    const seen = await asked(201, {}, () => request('attachments', { method: 'POST', body: form }))
    expect(seen.init.body).toBe(form)
    expect(seen.headers.has('content-type')).toBe(false)
  })

  test('an answer without content is none', async () => {
    const seen = await asked(204, undefined, () => request('agents/a', { method: 'DELETE' }))
    expect(seen).toMatchObject({ answer: undefined, error: null })
  })
})

describe('a refusal', () => {
  test('comes with its code, words and details', async () => {
    const details = { expectedRev: 3, currentRev: 5 }
    const { error } = await asked(412, { code: 'conflict', message: 'changed meanwhile', details }, () =>
      request('agents/a'),
    )
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: 'conflict', status: 412, message: 'Changed meanwhile', details, isStale: true })
  })

  test('a name that is taken is a conflict, and not a stale record', async () => {
    const { error } = await asked(409, { code: 'conflict', message: 'there is one already' }, () => request('agents'))
    expect(error).toMatchObject({ code: 'conflict', isStale: false, field: null, usedBy: [] })
  })

  test('names the field at fault, and who uses what was to go', async () => {
    const invalid = await asked(400, { code: 'bad_request', message: 'x', details: { field: 'baseUrl' } }, () =>
      request('a'),
    )
    expect(invalid.error).toMatchObject({ field: 'baseUrl' })
    const used = await asked(409, { code: 'conflict', message: 'x', details: { usedBy: ['agent "a"'] } }, () =>
      request('a'),
    )
    expect(used.error).toMatchObject({ usedBy: ['agent "a"'], isStale: false })
  })

  test('says when to try again', async () => {
    const body = { code: 'rate_limited', message: 'too many' }
    const { error } = await asked(429, body, () => request('login', { method: 'POST' }), { 'retry-after': '31' })
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 31, isExplained: true })
  })

  test('of a proxy, in HTML, is understood by its status', async () => {
    const { error } = await asked(502, '<html>Bad Gateway</html>', () => request('agents'))
    expect(error).toMatchObject({ code: 'unavailable', status: 502, retryAfterSeconds: null, isExplained: false })
  })
})

test('what is wrong with a field stands beside it without its name', () => {
  const wrong = (message: string) =>
    new ApiError('bad_request', message, 400, { field: 'modelConfig.temperature' }).besideField
  expect(wrong('modelConfig.temperature: must be at most 2')).toBe('Must be at most 2')
  expect(wrong('modelConfig.temperature：不能大于 2')).toBe('不能大于 2')
  expect(wrong('The name is taken')).toBe('The name is taken')
})

test('an unreachable server', async () => {
  vi.stubGlobal('fetch', async () => {
    throw new TypeError('Failed to fetch')
  })
  await expect(request('agents')).rejects.toMatchObject({ name: 'ApiError', code: 'unreachable', status: 0 })
})

test('a caller that aborts gets its own reason', async () => {
  const controller = new AbortController()
  vi.stubGlobal(
    'fetch',
    (_: string, init: RequestInit) =>
      new Promise((_resolve, reject) => init.signal!.addEventListener('abort', () => reject(init.signal!.reason))),
  )
  const answer = request('agents', { signal: controller.signal })
  controller.abort()
  await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
})

test('a missing login is reported to all listeners, a failed login is not', async () => {
  const heard = vi.fn()
  const stop = onUnauthorized(heard)
  const body = { code: 'unauthorized', message: 'who are you?' }
  await asked(401, body, () => request('login', { method: 'POST' }))
  expect(heard).not.toHaveBeenCalled()
  await asked(401, body, () => request('agents'))
  expect(heard).toHaveBeenCalledOnce()
  stop()
  await asked(401, body, () => request('agents'))
  expect(heard).toHaveBeenCalledOnce()
})
