import type { Json } from '../contract/schema/json.ts'
import { ConnectorError } from './connector-error.ts'
import { type OffsetAnswer, type OffsetOptions, opened } from './offset-listing.ts'
import { type Paged, paged } from './paging.ts'

/**
 * A listing by offset and limit of a system that sorts its items by an ascending number, such as users by
 * id. Unlike `offsetListing`, it skips no item when another one is deleted between two pages: each page
 * starts one item early, at the last item of the previous page. If that item was deleted, the listing reads
 * further back. New items have higher numbers and come last.
 *
 * @param idOf Returns the number of an item, which must be unique.
 * @throws invalid_response if the answer is not a list, is not sorted by number, or is empty although
 * `total` promises more items.
 *
 * @example
 * const users = anchoredListing(
 *   ({ offset, limit }) =>
 *     api.get<{ id: number }[]>('/users', { query: { order_by: 'id', offset, limit } }),
 *   ({ id }) => id,
 * )
 * return mapped(users, ({ id }) => [{ integration_specific_id: String(id) }])(ctx.page)
 */
export function anchoredListing<T>(
  read: (at: { offset: number; limit: number }) => OffsetAnswer<T> | Promise<OffsetAnswer<T>>,
  idOf: (item: T) => number,
  options: OffsetOptions = {},
): (at: { cursor: Json; size: number | null }) => Promise<Paged<T[]>> {
  // At a limit of one, a page would only repeat the last item of the previous page.
  const { first = 0, most: told = 100 } = options
  const most = Math.max(told, 2)
  const size = options.size ?? Math.min(100, most)

  return async (at) => {
    const { offset: next, after } = placeOf(at.cursor)
    const limit = Math.min((at.size ?? size) + (next > 0 ? 1 : 0), most)
    let offset = Math.max(next - 1, 0)
    for (let back = limit; ; back *= 2) {
      const { items, total } = opened(await read({ offset: first + offset, limit }))
      const begin = items[0]
      // The last item read has moved to a lower offset or was deleted.
      if (offset > 0 && (begin === undefined || idOf(begin) > after)) {
        offset = Math.max(0, Math.min(offset - back, (total ?? offset) - 1))
        continue
      }
      if (items.length === 0 && total !== undefined && total > 0)
        throw wrong(`The system gave no items, although it claims ${total}`)
      const ids = items.map(idOf)
      if (ids.some((id, index) => index > 0 && id <= (ids[index - 1] ?? id)))
        throw wrong('The system did not give its items by ascending number')
      const fresh = items.filter((item) => idOf(item) > after)
      const end = offset + items.length
      const more = total === undefined ? items.length > (offset > 0 ? 1 : 0) : end < total
      return paged(fresh, more ? { offset: end, after: ids.at(-1) ?? after } : null)
    }
  }
}

/** Start of a page: the number of items before it, and the id of the last of them. */
type Place = { offset: number; after: number }

/** @throws invalid_page_token if the cursor was not made by this listing */
function placeOf(cursor: Json): Place {
  if (cursor === null) return { offset: 0, after: Number.NEGATIVE_INFINITY }
  const { offset, after }: { offset?: unknown; after?: unknown } = Object(cursor)
  if (typeof offset === 'number' && offset > 0 && typeof after === 'number')
    return { offset, after }
  throw new ConnectorError('invalid_page_token', 'The cursor of the previous page is not a place')
}

const wrong = (why: string) => new ConnectorError('invalid_response', why)
