/** REST API: client and lists. Independent of capabilities. */
import {
  type Client,
  type ConnectorContext,
  ConnectorError,
  client,
  type Listing,
  type Query,
  type UpstreamReply,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'
import { overlapping } from './overlapping.ts'

export type Ctx = ConnectorContext<Connector>

/** Maximum page size of Redmine. */
const MAX_PAGE_SIZE = 100

/** Returns a client of the tenant's Redmine. */
export const service = (ctx: Ctx): Client =>
  client(ctx, {
    baseUrl: ctx.settings.base_url,
    headers: { 'x-redmine-api-key': ctx.auth.token.token },
    onError: errorOf,
  })

/** Hint for errors in which Redmine only reports a missing right. */
export const NO_ADMINISTRATOR =
  'Only an administrator may: give the user of the API key the right to administer, or use the key of one who has it'

async function errorOf(reply: UpstreamReply): Promise<ConnectorError> {
  const error = await ConnectorError.from(reply)
  if (error.status_code !== 403) return error
  return new ConnectorError(error.error_code, `${error.message} ${NO_ADMINISTRATOR}`, error)
}

/** Lists a paged collection: `{ "users": [...], "total_count": 3, "offset": 0, "limit": 100 }`. */
export const pagesOf = <T extends { id: number }>(
  ctx: Ctx,
  endpoint: string,
  name: 'users' | 'projects' | 'memberships',
  query: Query = {},
): Listing<T> =>
  overlapping<T>(async (at) => {
    const answer = await service(ctx).get<{ [member: string]: unknown } | undefined>(endpoint, {
      query: { ...query, ...at },
    })
    const total = answer?.['total_count']
    return {
      items: listIn<T>(answer, endpoint, name),
      total: typeof total === 'number' ? total : Number.POSITIVE_INFINITY,
    }
  }, MAX_PAGE_SIZE)

/** Returns a collection without pages: groups or roles. */
export async function readList<T>(ctx: Ctx, name: 'groups' | 'roles'): Promise<T[]> {
  const answer = await service(ctx).get<{ [member: string]: unknown } | undefined>(`/${name}.json`)
  return listIn<T>(answer, `/${name}.json`, name)
}

/**
 * Returns the list in a reply.
 *
 * @throws `invalid_response` if there is none
 */
function listIn<T>(
  answer: { [member: string]: unknown } | undefined,
  endpoint: string,
  name: string,
): T[] {
  const items = answer?.[name]
  if (Array.isArray(items)) return items
  throw new ConnectorError('invalid_response', `${endpoint} did not answer with a list of ${name}`)
}
