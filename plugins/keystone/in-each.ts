/** Lists in lists: the users of every domain, the members of every group. */
import { ConnectorError, ifThere, type Json, keyPage, type Listing, paged } from 'keyway/sdk'

/** Most lists that one call reads: what is left comes in the next page, within the deadline. */
const MAX_READS = 20

/** Most items of a page when the caller asks for no size. */
const MAX_ITEMS = 1000

/** Where a listing stands: in which thing, after which of its items. */
type Place = { in: string; after: string | null }

/**
 * One listing of what is in each of many things, in the order of their ids. The things themselves are
 * only read where the one that a page begins in has come to its end, so that most pages are one
 * request; one that comes or goes in the middle moves nothing else.
 *
 * @param outer All things, in any order.
 * @param inner All that is in the thing of this id, in any order; one that is gone meanwhile is empty.
 */
export function inEach<T>(
  outer: () => Promise<readonly { id: string }[]>,
  inner: (id: string) => Promise<T[]>,
  keyOf: (item: T) => string,
): Listing<T> {
  return async ({ cursor, size }) => {
    const most = size ?? MAX_ITEMS
    const items: T[] = []
    let ids: string[] | null = null
    const nextAfter = async (id: string | null): Promise<Place | null> => {
      ids ??= (await outer()).map((one) => one.id).sort()
      const next = ids.find((one) => id === null || one > id)
      return next === undefined ? null : { in: next, after: null }
    }
    let place = cursor === null ? await nextAfter(null) : placeOf(cursor)
    for (let reads = 0; place !== null && items.length < most && reads < MAX_READS; reads++) {
      const all: T[] = (await ifThere(inner(place.in))) ?? []
      const page = keyPage({ cursor: place.after, size: most - items.length }, all, keyOf)
      items.push(...page.response)
      place =
        page.cursor === null
          ? await nextAfter(place.in)
          : { in: place.in, after: String(page.cursor) }
    }
    return paged(items, place)
  }
}

function placeOf(cursor: Json): Place {
  const { in: id, after }: { [member: string]: unknown } = Object(cursor)
  if (typeof id === 'string' && (after === null || typeof after === 'string'))
    return { in: id, after }
  throw new ConnectorError('invalid_page_token', 'The cursor is not one of this listing')
}
