/** Nested lists, such as the users of every domain or the members of every group. */
import { ConnectorError, ifThere, type Json, keyPage, type Listing, paged } from 'keyway/sdk'

/**
 * Maximum number of lists read per call, so that the call meets its deadline. The rest follows on the next
 * page.
 */
const MAX_READS = 20

/** Maximum number of items per page if the caller requests no size. */
const MAX_ITEMS = 1000

/** Position of a listing: the container and the key of the last item returned from it. */
type Place = { in: string; after: string | null }

/**
 * Lists the items of many containers, in the order of container ids. The containers are read only when the
 * current one is exhausted, so most pages need one request. A container that is added or removed during the
 * listing does not move the others.
 *
 * @param outer Returns all containers, in any order.
 * @param inner Returns all items of the container with this id, in any order. A container that was removed in
 * the meantime counts as empty.
 */
export function listContainers<T>(
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
