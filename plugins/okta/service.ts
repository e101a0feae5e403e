/** Okta's management API: client, errors and lists. Independent of capabilities. */
import {
  bearer,
  type Client,
  type ConnectorContext,
  ConnectorError,
  client,
  type Listing,
  linkPage,
  type Query,
  readJson,
  textCursor,
  type UpstreamReply,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** Maximum page size: the size that Okta recommends, and its maximum for users. */
const MAX_PER_PAGE = 200

/** Returns a client of the API. It uses an API token, or acts as the user who gave consent. */
export function service(ctx: Ctx): Client {
  const { base_url } = ctx.settings
  return client(ctx, {
    baseUrl: `${base_url.replace(/\/+$/, '')}/api/v1`,
    authorization: authorizationOf(ctx),
    onError: errorOf,
  })
}

function authorizationOf({ credentials: { token, oauth } }: Ctx): string {
  if (token) return `SSWS ${token.token.token}`
  if (oauth) return bearer(oauth.oauth.access_token)
  throw new ConnectorError('bad_request', 'Give one of the credentials token and oauth')
}

/** Okta's codes for an operation that a person's status does not allow. */
const WRONG_STATE = ['E0000016', 'E0000032', 'E0000038', 'E0000053']

/** Converts a failed reply to an error. Okta's own code may be more specific than the status. */
async function errorOf(reply: UpstreamReply): Promise<Error> {
  const error = await ConnectorError.from(reply)
  if (reply.status === 429)
    return new ConnectorError('rate_limit', `${error.message}${whenOf(reply)}`, error)
  if (error.app_error_code !== null && WRONG_STATE.includes(error.app_error_code))
    return new ConnectorError('unsupported_operation', error.message, error)
  return error
}

function whenOf({ headers }: UpstreamReply): string {
  const reset = Number(headers.get('x-rate-limit-reset'))
  return reset > 0 ? `; again at ${new Date(reset * 1000).toISOString()}` : ''
}

/**
 * Lists a collection of the API. The cursor is the address of the next page, from the `Link` header.
 *
 * @throws `invalid_response` if the reply is not a list
 */
export function listing<T>(ctx: Ctx, address: string, query: Query = {}): Listing<T> {
  return async (at) => {
    const next = textCursor(at)
    const limit = Math.min(at.size ?? MAX_PER_PAGE, MAX_PER_PAGE)
    const reply = await service(ctx).request(
      'GET',
      next ?? address,
      next === undefined ? { query: { ...query, limit } } : {},
    )
    const items = await readJson<T[]>(reply)
    if (!Array.isArray(items))
      throw new ConnectorError('invalid_response', `${address} did not answer with a list`)
    return linkPage(reply, items)
  }
}
