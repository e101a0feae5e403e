/** Okta's management API: the client, its errors, its lists. Knows no capability. */
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

/** Most items of one page: what Okta advises, and the most that it gives of users. */
const MAX_PER_PAGE = 200

/** A client of the API, with an API token or as who gave consent. */
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

/** Codes of Okta for what cannot be done with a person in this state. */
const WRONG_STATE = ['E0000016', 'E0000032', 'E0000038', 'E0000053']

/** The error of a failing answer, where Okta's own code says more than the status. */
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
 * A list of the API. The cursor is the address of the next page, from the `Link` header.
 *
 * @throws invalid_response when the answer is no list.
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
