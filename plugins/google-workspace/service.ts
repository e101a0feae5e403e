/**
 * Google's APIs for administrators: clients, errors and lists. Independent of capabilities. The host logs in.
 */
import {
  type Client,
  type ConnectorContext,
  ConnectorError,
  client,
  cursorPage,
  type Listing,
  type Paged,
  type Query,
  textCursor,
  type UpstreamReply,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

const ADMIN = 'https://admin.googleapis.com/admin'
const LICENSING = 'https://licensing.googleapis.com/apps/licensing/v1'

const api = (ctx: Ctx, baseUrl: string): Client => client(ctx, { baseUrl, onError: errorOf })

/** Returns a client of the Directory API: users, groups, organisational units, roles. */
export const directory = (ctx: Ctx): Client => api(ctx, `${ADMIN}/directory/v1`)
/** Returns a client of the Reports API, which has the activity log. */
export const reports = (ctx: Ctx): Client => api(ctx, `${ADMIN}/reports/v1/activity`)
/** Returns a client of the Data Transfer API. */
export const dataTransfer = (ctx: Ctx): Client => api(ctx, `${ADMIN}/datatransfer/v1`)
/** Returns a client of the Licensing API. */
export const licensing = (ctx: Ctx): Client => api(ctx, LICENSING)

/** Returns the customer id of the credential, or an alias for the administrator's own customer. */
export const customer = (ctx: Ctx): string => ctx.auth.service_account.tenant_id || 'my_customer'

const TOO_MANY = [
  'rateLimitExceeded',
  'userRateLimitExceeded',
  'quotaExceeded',
  'dailyLimitExceeded',
]

/**
 * Converts a failed reply to an error. Google gives the reason in a list of errors, and answers 403 for some
 * rate limits.
 */
async function errorOf(reply: UpstreamReply): Promise<Error> {
  const error = await ConnectorError.from(reply)
  const reason = /"reason"\s*:\s*"(\w{1,60})"/.exec(error.message)?.[1]
  const details = { ...error, app_error_code: reason ?? error.app_error_code }
  const code =
    reply.status === 403 && TOO_MANY.includes(reason ?? '') ? 'rate_limit' : error.error_code
  return new ConnectorError(code, error.message, details)
}

/**
 * List endpoint: its path, the member that holds the items, the maximum page size, and further query
 * parameters.
 */
export type List = { path: string; items: string; most: number; query?: Query }

/** Listing that always returns a page object, with the items and the cursor. */
export type PagedListing<T> = (at: Parameters<Listing<T>>[0]) => Promise<Paged<T[]>>

/**
 * Lists a collection of an API. An empty page has no items member. A page may hold fewer items than
 * requested, or none, and still have a successor.
 *
 * @throws `invalid_response` if the reply is not a list
 */
export function listing<T>(on: Client, { path, items, most, query }: List): PagedListing<T> {
  return async (at) => {
    const answer = await on.get<Record<string, unknown> | undefined>(path, {
      query: {
        ...query,
        maxResults: Math.min(at.size ?? most, most),
        pageToken: textCursor(at),
      },
    })
    const found = answer?.[items] ?? []
    if (answer === undefined || !Array.isArray(found))
      throw new ConnectorError('invalid_response', `${path} did not answer with a list`)
    const next = answer['nextPageToken']
    return cursorPage<T>(found, typeof next === 'string' ? next : undefined)
  }
}
