import type { Context } from '../contract/connector/context.ts'
import type { Json } from '../contract/schema/json.ts'
import { ConnectorError } from './connector-error.ts'
import { type Listing, openPage, type Paged, paged } from './paging.ts'

/**
 * Most upstream pages that one call reads to fill its page: listings with many empty pages answer
 * with what there is and a cursor, within the deadline.
 */
const MAX_READS = 50

/** Where a chain stands: in which listing, before which of its pages, how much of that is done. */
type Place = { listing: string; cursor: Json; skip: number }

/**
 * Several upstream listings as one sequence of pages, in the order written. A page is filled across
 * the seam: 20 per page over 30 users and 35 licences are pages of 20, 20, 20 and 5.
 *
 * A listing is read like a handler reads its own page: it gets `{ cursor, size }` and returns
 * `paged(...)`, or an array when there is no further page. `size` is what is still missing in this
 * page; a listing with fixed page sizes may ignore it, the surplus is kept for the next page. Without
 * a size asked for by the caller, each call is one upstream page. When the listings give objects of
 * different shapes, name the one: `chain<Output<'list_accounts'>[number]>(ctx, ...)`.
 *
 * @throws invalid_page_token when the cursor names a listing that is not there.
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

/** What a listing gives from a place on, and the place after that (null: the listing has ended). */
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
