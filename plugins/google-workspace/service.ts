/** Google's APIs for administrators: clients, errors, lists. Knows no capability; the host logs in. */
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

/** Users, groups, organisational units, roles. */
export const directory = (ctx: Ctx): Client => api(ctx, `${ADMIN}/directory/v1`)
/** What was done, and who did it. */
export const reports = (ctx: Ctx): Client => api(ctx, `${ADMIN}/reports/v1/activity`)
/** Moving what people own. */
export const dataTransfer = (ctx: Ctx): Client => api(ctx, `${ADMIN}/datatransfer/v1`)
/** Licences. */
export const licensing = (ctx: Ctx): Client => api(ctx, LICENSING)

/** The customer that is asked for: the credential's, else the administrator's own. */
export const customer = (ctx: Ctx): string => ctx.auth.service_account.tenant_id || 'my_customer'

const TOO_MANY = [
  'rateLimitExceeded',
  'userRateLimitExceeded',
  'quotaExceeded',
  'dailyLimitExceeded',
]

/** The error of a failing answer. Google tells its reason in a list of errors, and 403 for some rates. */
async function errorOf(reply: UpstreamReply): Promise<Error> {
  const error = await ConnectorError.from(reply)
  const reason = /"reason"\s*:\s*"(\w{1,60})"/.exec(error.message)?.[1]
  const details = { ...error, app_error_code: reason ?? error.app_error_code }
  const code =
    reply.status === 403 && TOO_MANY.includes(reason ?? '') ? 'rate_limit' : error.error_code
  return new ConnectorError(code, error.message, details)
}

/** Where a list is, what its items are called, and how many it gives at once. */
export type List = { path: string; items: string; most: number; query?: Query }

/** A listing whose pages are always open: what one gave, and its cursor. */
export type PagedListing<T> = (at: Parameters<Listing<T>>[0]) => Promise<Paged<T[]>>

/**
 * A list of an API. Items are left out where there are none; a page may hold fewer than were asked
 * for, or none, and others follow.
 *
 * @throws invalid_response when the answer is no list.
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
