/** GitHub's REST API: client, errors and lists. Independent of capabilities. */
import {
  bearer,
  type Client,
  type ConnectorContext,
  ConnectorError,
  client,
  type Listing,
  nextLink,
  paged,
  path,
  type Query,
  readJson,
  type UpstreamReply,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** Maximum page size of GitHub. */
const MAX_PER_PAGE = 100

/** Returns a client of the API. It acts as the token's owner, or as the user who gave consent. */
export function service(ctx: Ctx): Client {
  return client(ctx, {
    baseUrl: ctx.settings.base_url,
    authorization: bearer(tokenOf(ctx)),
    headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
    onError: errorOf,
  })
}

function tokenOf({ credentials: { token, oauth } }: Ctx): string {
  const found = token?.token.token ?? oauth?.oauth.access_token
  if (found !== undefined) return found
  throw new ConnectorError('bad_request', 'Give one of the credentials token and oauth')
}

/**
 * Converts a failed reply to an error. GitHub answers 403 for both of its rate limits: the hourly one leaves
 * 0 remaining requests, and the one for bursts sends Retry-After.
 */
async function errorOf(reply: UpstreamReply): Promise<Error> {
  const error = await ConnectorError.from(reply)
  const { headers } = reply
  const limited = headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after')
  if (reply.status === 403 && limited)
    return new ConnectorError('rate_limit', `${error.message}${whenOf(reply)}`, error)
  return error
}

function whenOf({ headers }: UpstreamReply): string {
  const seconds = headers.get('retry-after')
  if (seconds !== null) return `; again after ${seconds} s`
  const reset = Number(headers.get('x-ratelimit-reset'))
  return reset > 0 ? `; again at ${new Date(reset * 1000).toISOString()}` : ''
}

/** Returns the organisation's API path, such as `/orgs/acme`. */
export const organization = (ctx: Ctx): string => path`/orgs/${ctx.settings.organization}`

/**
 * Lists a collection of the API in pages of at most 100. The next link in the `Link` header points to a
 * numeric path (`/organizations/1/members?page=2`), so only its query is used.
 *
 * @throws `invalid_response` if the reply is not a list
 */
export function listing<T>(ctx: Ctx, address: string, query: Query = {}): Listing<T> {
  return async ({ cursor, size }) => {
    const first = { ...query, per_page: Math.min(size ?? MAX_PER_PAGE, MAX_PER_PAGE) }
    const reply = await service(ctx).request('GET', address, {
      query: { ...first, ...Object(cursor) },
    })
    const items = await readJson<T[]>(reply)
    if (!Array.isArray(items))
      throw new ConnectorError('invalid_response', `${address} did not answer with a list`)
    const next = nextLink(reply)
    return paged(items, next && Object.fromEntries(new URL(next).searchParams))
  }
}
