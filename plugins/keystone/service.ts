/** Identity API v3: client and lists. Independent of capabilities. The host logs in. */
import { type Client, type ConnectorContext, ConnectorError, client, type Query } from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** Returns a client of the tenant's cloud. The host inserts the token (see `exchange` in connector.json). */
export const service = (ctx: Ctx): Client => client(ctx, { baseUrl: ctx.settings.base_url })

/** List reply. The items are in a member named after the collection. `links.next` is an address or null. */
type Answer = { links?: { next?: string | null }; truncated?: boolean; [items: string]: unknown }

/**
 * Maximum number of pages of one list. With the usual thousand items per page, this allows a million items.
 */
const MAX_PAGES = 1000

/**
 * Returns a whole list. Most versions have no pages and return everything at once. The others link to the
 * next page, possibly under another address than `base_url`, so only the query of the link is used.
 *
 * @throws `invalid_response` if the reply is not a list, or was truncated by the server: in an access review,
 * missing people would look like people who have left
 */
export async function readList<T>(ctx: Ctx, endpoint: string, query: Query = {}): Promise<T[]> {
  const name = endpoint.slice(endpoint.lastIndexOf('/') + 1)
  const all: T[] = []
  let next: Query | null = query
  for (let pages = 0; next !== null; pages++) {
    const answer: Answer = await service(ctx).get<Answer>(endpoint, { query: next })
    const items = answer?.[name]
    if (!Array.isArray(items)) throw wrong(`${endpoint} did not answer with a list`)
    if (answer.truncated === true)
      throw wrong(`${endpoint} was cut off by the server: raise list_limit in keystone.conf`)
    if (pages >= MAX_PAGES) throw wrong(`${endpoint} has more than ${MAX_PAGES} pages`)
    all.push(...items)
    next = answer.links?.next ? queryOf(answer.links.next) : null
  }
  return all
}

const queryOf = (address: string): Query =>
  Object.fromEntries(new URL(address, 'http://base.invalid').searchParams)

const wrong = (why: string) => new ConnectorError('invalid_response', why)
