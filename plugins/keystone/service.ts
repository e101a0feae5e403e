/** The Identity API v3: the client, and lists. Knows no capability; the host logs in. */
import { type Client, type ConnectorContext, ConnectorError, client, type Query } from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** A client of the tenant's cloud. The token is put in by the host: connector.json, `exchange`. */
export const service = (ctx: Ctx): Client => client(ctx, { baseUrl: ctx.settings.base_url })

/** What a list of the API is: its items under its own name, `next` an address or null. */
type Answer = { links?: { next?: string | null }; truncated?: boolean; [items: string]: unknown }

/** Most pages of one list; at the usual thousand items each this is a million. */
const MAX_PAGES = 1000

/**
 * A list of the API, whole. Most versions have no pages and give a list at once; those that have them
 * link to the next one, at an address that may be another than ours: only its query is taken.
 *
 * @throws invalid_response when the answer is no list, or one that the server has cut off: to an access
 * review, missing people look like people who have left.
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
