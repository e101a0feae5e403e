/** Refusals of the core, independent of HTTP. The status of each is in `http/edge/statuses.ts`. */

/** One validation error. */
export type ValidationEntry = {
  /** Path of the value: `["query", "size"]`, `["body", "apps", 0, "id"]`. */
  loc: (string | number)[]
  msg: string
  type: string
}

/**
 * Kind of refusal -> meaning. The list is closed: every refusal outside a capability call has one of these
 * kinds.
 */
const REFUSALS = {
  bad_request: 'The request cannot be carried out as given',
  invalid: 'The input is not valid; nothing was stored',
  unauthenticated: 'The caller is not authenticated',
  forbidden: 'The caller is authenticated and may not do this',
  not_found: 'The object does not exist in this domain, or the caller may not see it',
  conflict: 'The state of the object does not allow it',
  precondition_failed: 'The object has changed since the caller read it',
  too_many_requests:
    'Too many requests at once or within a time; the same request may be sent again later',
  not_implemented: 'The connected system or its connector cannot do this',
  upstream_failed: 'The connected system failed, or could not be reached',
  unavailable:
    'A required component is temporarily unavailable; the same request may be sent again',
  internal: 'A defect of Keyway',
  // Refusals of the request itself, before it is processed.
  method_not_allowed: 'The path does not support this method',
  too_large: 'The body is larger than allowed for this path',
  unsupported_media_type: 'The content type is not accepted at this path',
  misdirected: 'The request names another server',
} as const

/** Kind of refusal. */
export type RefusalKind = keyof typeof REFUSALS

type CoreErrorDetails = {
  /** Seconds after which the caller may try again. */
  retryAfterSeconds?: number
  cause?: unknown
}

/** The error by which the core refuses a request. A single place turns it into a response. */
export class CoreError extends Error {
  readonly kind: RefusalKind
  /** Words for people, or one entry per invalid part. */
  readonly detail: string | ValidationEntry[]
  readonly retryAfterSeconds: number | null

  constructor(
    kind: RefusalKind,
    detail: string | ValidationEntry[],
    { retryAfterSeconds, cause }: CoreErrorDetails = {},
  ) {
    super(
      typeof detail === 'string' ? detail : 'Validation failed',
      cause === undefined ? undefined : { cause },
    )
    this.name = 'CoreError'
    this.kind = kind
    this.detail = detail
    this.retryAfterSeconds = retryAfterSeconds ?? null
  }
}

/**
 * Returns the error for an id that does not exist in the caller's domain. The text does not reveal whether
 * another domain has it.
 */
export const notFound = (what: string): CoreError => new CoreError('not_found', `${what} not found`)

export const badRequest = (words: string): CoreError => new CoreError('bad_request', words)
export const forbidden = (words: string): CoreError => new CoreError('forbidden', words)
export const conflict = (words: string): CoreError => new CoreError('conflict', words)

/** Returns the error for one invalid value. */
export const invalidAt = (loc: ValidationEntry['loc'], msg: string): CoreError =>
  new CoreError('invalid', [{ loc, msg, type: 'value_error' }])

/** Returns a validation entry about a member of the body. */
export const bodyEntry = (at: ValidationEntry['loc'], words: string): ValidationEntry => ({
  loc: ['body', ...at],
  msg: `Value error, ${words}`,
  type: 'value_error',
})

/** Turns `not_found` into null and rethrows any other error. For `catch`. */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof CoreError && error.kind === 'not_found') return null
  throw error
}
