import type { Context } from '../contract/connector/context.ts'
import type { Json } from '../contract/schema/json.ts'
import { ConnectorError } from './connector-error.ts'
import { type Listing, openPage, type Paged, paged } from './paging.ts'

/**
 * Maximum number of upstream pages that one call reads to fill its page. A listing with many empty pages
 * returns the items found so far and a cursor, within the deadline.
 */
const MAX_READS = 50

/**
 * Position in a chain: the listing, the cursor of its page, and the number of items of that page already
 * returned.
 */
type Place = { listing: string; cursor: Json; skip: number }

/**
 * Concatenates several upstream listings into one sequence of pages, in the given order. Pages may span two
 * listings: at 20 items per page, 30 users and 35 licences make pages of 20, 20, 20 and 5.
 *
 * Each listing works like a handler that reads its own page: it gets `{ cursor, size }` and returns
 * `paged(...)`, or an array if there is no further page. `size` is the number of items still missing in this
 * page. A listing with fixed page sizes may ignore it; surplus items are returned with the next page. If the
 * caller asks for no size, each call returns one upstream page. If the listings return objects of different
 * shapes, name their common type: `chain<Output<'list_accounts'>[number]>(ctx, ...)`.
 *
 * @throws invalid_page_token if the cursor names an unknown listing
 *
 * @example
 * return chain(ctx, {
 *   users: async (at) => {
 *     const query = { after: textCursor(at), limit: at.size }
 *     const page = await api.get<{ users: User[]; next?: string }>('/users', { query })
 *     return cursorPage(page.users.map(toAccount), page.next)
 *   },
 *   robots: async () => (await api.get<User[]>('/robots')).map(toAccount),
 * })
 */
export async function chain<T>(
  ctx: Pick<Context, 'page'>,
  listings: Record<string, Listing<T>>,
): Promise<Paged<T[]>> {
  const names = Object.keys(listings)
  const { size } = ctx.page
  const items: T[] = []
  let place = placeOf(ctx.page.cursor, names)

  for (let reads = 0; place !== null && reads < MAX_READS; reads++) {
    const wanted: number | null = size === null ? null : size - items.length
    const got = await readFrom(place, wanted, listings)
    items.push(...got.items)
    place = got.rest ?? startOf(names[names.indexOf(place.listing) + 1])
    if (size === null || items.length >= size) break
  }
  return paged(items, place)
}

const startOf = (listing: string | undefined): Place | null =>
  listing === undefined ? null : { listing, cursor: null, skip: 0 }

/**
 * Reads a listing from a position. Returns the items and the next position, or null at the end of the
 * listing.
 */
async function readFrom<T>(
  place: Place,
  wanted: number | null,
  listings: Record<string, Listing<T>>,
): Promise<{ items: readonly T[]; rest: Place | null }> {
  const listing = listings[place.listing]
  if (listing === undefined) throw lost(Object.keys(listings))
  const page = openPage(
    await listing({
      cursor: place.cursor,
      size: wanted === null ? null : wanted + place.skip,
    }),
  )
  const end = wanted === null ? page.items.length : place.skip + wanted
  const items = page.items.slice(place.skip, end)
  if (end < page.items.length) return { items, rest: { ...place, skip: end } }
  return {
    items,
    rest: page.cursor === null ? null : { ...place, cursor: page.cursor, skip: 0 },
  }
}

function placeOf(cursor: Json, names: readonly string[]): Place | null {
  if (cursor === null) return startOf(names[0])
  const { listing, cursor: inner, skip }: { [member: string]: Json | undefined } = Object(cursor)
  if (typeof listing === 'string' && names.includes(listing) && typeof skip === 'number')
    return { listing, cursor: inner ?? null, skip }
  throw lost(names)
}

const lost = (names: readonly string[]): ConnectorError =>
  new ConnectorError(
    'invalid_page_token',
    `The cursor names none of the listings ${names.join(', ')}`,
  )
