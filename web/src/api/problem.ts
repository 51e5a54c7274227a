import { asSentence, refusalWords } from '@/i18n'
import type { ErrorCode, LocalizedText } from '@/protocol'

/** Why a request failed: the code of the server's refusal, or `unreachable` without an answer. */
export type ProblemCode = ErrorCode | 'unreachable'

/** A request that was not carried out. */
export class ApiError extends Error {
  constructor(
    readonly code: ProblemCode,
    message: string,
    /** 0 if there was no answer. */
    readonly status: number = 0,
    /** What a program needs to go on; its shape depends on the request. */
    readonly details: unknown = null,
    readonly retryAfterSeconds: number | null = null,
    /** Whether the message is the server's own, in the language of the page. */
    readonly isExplained: boolean = false,
  ) {
    super(message)
    this.name = 'ApiError'
  }

  /** Whether the record was changed elsewhere since it was read. */
  get isStale(): boolean {
    return this.code === 'conflict' && typeof this.detail('currentRev') === 'number'
  }

  /** The field at fault, such as `modelConfig.temperature`. */
  get field(): string | null {
    const field = this.detail('field')
    return typeof field === 'string' ? field : null
  }

  /** What is wrong, to stand beside the field and so without its name. */
  get besideField(): string {
    const { field, message } = this
    const isNamed = field !== null && message.startsWith(field)
    return isNamed ? asSentence(message.slice(field.length).replace(/^[:：]\s*/, '')) : message
  }

  /** Who needs what was to be deleted. */
  get usedBy(): string[] {
    const by = this.detail('usedBy')
    return Array.isArray(by) ? by.filter((name) => typeof name === 'string') : []
  }

  private detail(name: string): unknown {
    return this.details !== null && typeof this.details === 'object'
      ? (this.details as Record<string, unknown>)[name]
      : undefined
  }
}

/** The refusal in a response that is not a success. Whatever stands in between may answer something else than JSON. */
export async function refusal(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null)
  const retryAfter = Number.parseInt(response.headers.get('retry-after') ?? '', 10)
  const seconds = Number.isNaN(retryAfter) ? null : retryAfter
  if (isProblem(body))
    return new ApiError(body.code, refusalWords(body), response.status, body.details ?? null, seconds, true)
  return new ApiError(
    codeOf(response.status),
    `${response.status} ${response.statusText}`.trim(),
    response.status,
    null,
    seconds,
  )
}

function isProblem(
  body: unknown,
): body is { code: ErrorCode; message: string; words?: LocalizedText; details?: unknown } {
  if (body === null || typeof body !== 'object') return false
  const { code, message } = body as Record<string, unknown>
  return typeof code === 'string' && typeof message === 'string'
}

function codeOf(status: number): ErrorCode {
  const codes: Record<number, ErrorCode> = {
    400: 'bad_request',
    401: 'unauthorized',
    403: 'forbidden',
    404: 'not_found',
    409: 'conflict',
    412: 'conflict',
    413: 'too_large',
    429: 'rate_limited',
    502: 'unavailable',
    503: 'unavailable',
    504: 'unavailable',
  }
  return codes[status] ?? (status < 500 ? 'bad_request' : 'internal')
}
