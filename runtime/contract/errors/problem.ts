/** What the core refuses, without HTTP: what each refusal is answered with stands in `http/edge/statuses.ts`. */

/** One entry of what does not fit. */
export type ValidationEntry = {
  /** Where: `["query", "size"]`, `["body", "apps", 0, "id"]`. */
  loc: (string | number)[]
  msg: string
  type: string
}

/** REFUSALS: kind -> what it means. The list is closed: whatever is refused outside a capability call is one of them. */
const REFUSALS = {
  bad_request: 'What is asked for cannot be done as it is asked',
  invalid: 'What was sent does not fit; nothing of it was taken',
  unauthenticated: 'It is not known who calls',
  forbidden: 'The caller is known and may not do this',
  not_found: 'There is no such thing in this domain, or the caller may not see it',
  conflict: 'The state of the thing is against it',
  precondition_failed: 'The thing is another than the caller has seen',
  too_many_requests: 'Too much at once or within a time; the same may be sent again later',
  not_implemented: 'The connected system or its connector cannot do this',
  upstream_failed: 'The connected system failed, or could not be reached',
  unavailable: 'Something that is needed is away for the moment; the same may be sent again',
  internal: 'A defect of Keyway',
  // Of the request itself, before anything is done for it.
  method_not_allowed: 'The path does not answer to this method',
  too_large: 'The body is larger than may be sent there',
  unsupported_media_type: 'The content type is not the one that is taken there',
  misdirected: 'The request names another server',
} as const

export type RefusalKind = keyof typeof REFUSALS

type CoreErrorDetails = {
  /** After how many seconds it may be tried again. */
  retryAfterSeconds?: number
  cause?: unknown
}

/** What the core throws to refuse something; it becomes an answer in one place. */
export class CoreError extends Error {
  readonly kind: RefusalKind
  /** What is said: words, or an entry for each part that does not fit. */
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

/** Nothing of that id, in the caller's domain: the same words for "never was" and "not yours". */
export const notFound = (what: string): CoreError => new CoreError('not_found', `${what} not found`)

export const badRequest = (words: string): CoreError => new CoreError('bad_request', words)
export const forbidden = (words: string): CoreError => new CoreError('forbidden', words)
export const conflict = (words: string): CoreError => new CoreError('conflict', words)

/** One value that does not fit. */
export const invalidAt = (loc: ValidationEntry['loc'], msg: string): CoreError =>
  new CoreError('invalid', [{ loc, msg, type: 'value_error' }])

/** An entry about a member of the body. */
export const bodyEntry = (at: ValidationEntry['loc'], words: string): ValidationEntry => ({
  loc: ['body', ...at],
  msg: `Value error, ${words}`,
  type: 'value_error',
})

/** For `catch`: turns `not_found` into null. */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof CoreError && error.kind === 'not_found') return null
  throw error
}
