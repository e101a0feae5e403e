import type { UpstreamReply } from '../contract/connector/context.ts'
import { upstreamCode, upstreamMessage } from '../contract/connector/upstream-status.ts'
import type { ErrorCode } from '../contract/errors/error-codes.ts'

/** What a ConnectorError may say beside its code and message. */
export type ConnectorErrorDetails = {
  /** The third-party system's own code, such as `uniqueness`. */
  app_error_code?: string | null | undefined
  /** The HTTP status of the third-party system's answer. */
  status_code?: number | null | undefined
  /** The wire's `raised_by`; `ConnectorError` unless said otherwise. */
  raised_by?: string | undefined
  cause?: unknown
}

/**
 * The error that a handler throws to say what went wrong, with one of the wire's codes. Anything else
 * that a handler throws reaches the caller as `unexpected_error`.
 *
 * All members are own data properties: the runtime reads nothing else of a thrown value.
 *
 * @example
 * if (request.entitlements.length > 1) {
 *   throw new ConnectorError('bad_request', 'An account has one role at most')
 * }
 */
export class ConnectorError extends Error {
  override readonly name = 'ConnectorError'
  readonly error_code: ErrorCode
  readonly app_error_code: string | null
  readonly status_code: number | null
  readonly raised_by: string

  constructor(code: ErrorCode, message: string, details: ConnectorErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.error_code = code
    this.app_error_code = details.app_error_code ?? null
    this.status_code = details.status_code ?? null
    this.raised_by = details.raised_by ?? 'ConnectorError'
  }

  /**
   * The error for a failing answer of the third-party system: 401 is `unauthenticated`, 404
   * `not_found`, 429 `rate_limit` and so on; a 401 whose challenge says that the token has expired, or
   * was revoked, is told apart. The message is `[status][address] text`; the system's own
   * code is taken from the usual members of a JSON body. What is given wins over both.
   *
   * @example
   * const reply = await ctx.fetch(`${ctx.settings.base_url}/users`)
   * if (!reply.ok) throw await ConnectorError.from(reply)
   *
   * @example
   * // a system that says its code in a header
   * const reply = await ctx.fetch(`${ctx.settings.base_url}/users`)
   * throw await ConnectorError.from(reply, { app_error_code: reply.headers.get('x-error') })
   *
   * @example
   * // a system that says 401 to those who may not: `onError` of `client`
   * const api = client(ctx, {
   *   baseUrl: ctx.settings.base_url,
   *   onError: async (reply) => {
   *     const error = await ConnectorError.from(reply)
   *     if (error.app_error_code !== 'not_authorised') return error
   *     return new ConnectorError('permission_denied', error.message, error)
   *   },
   * })
   */
  static async from(
    reply: Pick<UpstreamReply, 'status' | 'url' | 'text'> & Partial<Pick<UpstreamReply, 'headers'>>,
    given: Pick<ConnectorErrorDetails, 'app_error_code'> & { message?: string | undefined } = {},
  ): Promise<ConnectorError> {
    const body = await textOf(reply)
    const header = (name: string) => reply.headers?.get(name) ?? null
    const after = reply.status === 429 || reply.status === 503 ? header('retry-after') : null
    const hint = after === null ? '' : ` (try again after ${after})`
    return new ConnectorError(
      upstreamCode(reply.status, header('www-authenticate')),
      given.message ?? `${upstreamMessage(reply.status, reply.url, body)}${hint}`,
      {
        app_error_code: given.app_error_code ?? ownCode(body),
        status_code: reply.status,
        raised_by: 'HTTPStatusError',
      },
    )
  }
}

/**
 * Whether something thrown has one of these codes. Prefer it to `instanceof`: what `ctx.fetch` itself
 * throws (refused by the egress policy, connection lost) looks like a ConnectorError but is not of
 * this class.
 *
 * @example
 * try {
 *   await api.delete(path`/users/${request.account_id}`)
 * } catch (error) {
 *   if (!hasCode(error, 'not_found')) throw error // gone already is as good
 * }
 */
export function hasCode(error: unknown, ...codes: ErrorCode[]): error is ConnectorError {
  if (typeof error !== 'object' || error === null || !Object.hasOwn(error, 'error_code'))
    return false
  const wanted: readonly unknown[] = codes
  return wanted.includes(Reflect.get(error, 'error_code'))
}

/** Members of a JSON body that hold the system's own code, the first one found wins. */
const CODE_MEMBERS = [
  ['error'],
  ['code'],
  ['scimType'],
  ['errorCode'],
  ['error', 'code'],
  ['error', 'status'],
  ['errors', '0', 'code'],
] as const

/** Longest text that passes for a code, in characters: what is longer is prose. */
const MAX_CODE_LENGTH = 100

function ownCode(body: string): string | null {
  const json = parsed(body)
  for (const path of CODE_MEMBERS) {
    const code = path.reduce(member, json)
    if (typeof code === 'string' && code !== '' && code.length <= MAX_CODE_LENGTH) return code
  }
  return null
}

/** An own member of a JSON value, or undefined. */
function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // Failing answers are often not JSON; the message repeats the text.
    return null
  }
}

async function textOf(reply: Pick<UpstreamReply, 'text'>): Promise<string> {
  try {
    return await reply.text()
  } catch {
    // The author has read the body already: the status says enough, and must not be lost.
    return ''
  }
}
