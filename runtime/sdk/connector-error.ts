import type { UpstreamReply } from '../contract/connector/context.ts'
import { upstreamCode, upstreamMessage } from '../contract/connector/upstream-status.ts'
import type { ErrorCode } from '../contract/errors/error-codes.ts'

/** Details of a ConnectorError in addition to its code and message. */
export type ConnectorErrorDetails = {
  /** Error code of the third-party system, such as `uniqueness`. */
  app_error_code?: string | null | undefined
  /** HTTP status of the third-party system's response. */
  status_code?: number | null | undefined
  /** `raised_by` of the wire format; `ConnectorError` by default. */
  raised_by?: string | undefined
  cause?: unknown
}

/**
 * Error that a handler throws to report a failure with one of the wire format's codes. Any other thrown value
 * reaches the caller as `unexpected_error`.
 *
 * All members are own data properties. The runtime reads nothing else of a thrown value.
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
   * Creates the error for a failed response of the third-party system: `unauthenticated` for 401, `not_found`
   * for 404, `rate_limit` for 429, and so on. A 401 whose challenge reports an expired or revoked token has
   * its own code. The message is `[status][address] text`. The system's own code is read from the usual
   * members of a JSON body. `given` overrides both.
   *
   * @example
   * const reply = await ctx.fetch(`${ctx.settings.base_url}/users`)
   * if (!reply.ok) throw await ConnectorError.from(reply)
   *
   * @example
   * // a system that sends its code in a header
   * const reply = await ctx.fetch(`${ctx.settings.base_url}/users`)
   * throw await ConnectorError.from(reply, { app_error_code: reply.headers.get('x-error') })
   *
   * @example
   * // a system that answers 401 for missing permissions: `onError` of `client`
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
 * Reports whether a thrown value has one of these codes. Prefer it to `instanceof`: errors of `ctx.fetch`
 * itself (refused by the egress policy, connection lost) look like a ConnectorError but are not instances of
 * this class.
 *
 * @example
 * try {
 *   await api.delete(path`/users/${request.account_id}`)
 * } catch (error) {
 *   if (!hasCode(error, 'not_found')) throw error // already deleted: done
 * }
 */
export function hasCode(error: unknown, ...codes: ErrorCode[]): error is ConnectorError {
  if (typeof error !== 'object' || error === null || !Object.hasOwn(error, 'error_code'))
    return false
  const wanted: readonly unknown[] = codes
  return wanted.includes(Reflect.get(error, 'error_code'))
}

/** Members of a JSON body that may hold the system's error code. The first one found is used. */
const CODE_MEMBERS = [
  ['error'],
  ['code'],
  ['scimType'],
  ['errorCode'],
  ['error', 'code'],
  ['error', 'status'],
  ['errors', '0', 'code'],
] as const

/** Maximum length of an error code in characters. Longer text is prose. */
const MAX_CODE_LENGTH = 100

function ownCode(body: string): string | null {
  const json = parsed(body)
  for (const path of CODE_MEMBERS) {
    const code = path.reduce(member, json)
    if (typeof code === 'string' && code !== '' && code.length <= MAX_CODE_LENGTH) return code
  }
  return null
}

/** Returns an own member of a JSON value, or undefined. */
function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // Failed responses are often not JSON. The message contains the text.
    return null
  }
}

async function textOf(reply: Pick<UpstreamReply, 'text'>): Promise<string> {
  try {
    return await reply.text()
  } catch {
    // The connector has already read the body. Keep the status.
    return ''
  }
}
