/**
 * Errors of the core interface: real HTTP status codes, `{ detail }` bodies (service.md section 7.2,
 * core-interface.md section 3).
 */

/** One entry of a 422 body. */
export type ValidationEntry = {
  /** Where: `["query", "size"]`, `["body", "apps", 0, "id"]`. */
  loc: (string | number)[]
  msg: string
  type: string
}

export type CoreStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 409
  | 413
  | 415
  | 421
  | 422
  | 429
  | 500
  | 501
  | 502
  | 503

/** What a core endpoint throws; it becomes an answer in one place. */
export class CoreError extends Error {
  readonly status: CoreStatus
  readonly detail: string | ValidationEntry[]
  readonly headers: Record<string, string>

  constructor(
    status: CoreStatus,
    detail: string | ValidationEntry[],
    headers: Record<string, string> = {},
    cause?: unknown,
  ) {
    super(
      typeof detail === 'string' ? detail : 'Validation failed',
      cause === undefined ? undefined : { cause },
    )
    this.name = 'CoreError'
    this.status = status
    this.detail = detail
    this.headers = headers
  }
}

/** Nothing of that id, in the caller's domain: the same words for "never was" and "not yours". */
export const notFound = (what: string): CoreError => new CoreError(404, `${what} not found`)
