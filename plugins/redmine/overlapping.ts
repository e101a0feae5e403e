/**
 * Listings that skip nothing if an item before the current page is removed, such as a user who is locked or a
 * member who leaves.
 */
import { ConnectorError, type Json, type Listing, paged } from 'keyway/sdk'

/**
 * Reads items at an offset. `total` is the number of all items, or Infinity if Redmine does not report it.
 */
type Read<T> = (at: { offset: number; limit: number }) => Promise<{ items: T[]; total: number }>

/** Number of last items that a page passes to the next one. */
const KNOWN = 20

/**
 * Returns a listing by offset and limit, for an order that only Redmine can compare. Each page starts with
 * the last items of the previous page. If they are not found there, they are searched for nearer to the
 * beginning. If all of them were removed, the page starts where the previous one ended.
 *
 * @throws `invalid_response` if a reply is empty although its total promises more items
 */
export function overlapping<T extends { id: number }>(read: Read<T>, most: number): Listing<T> {
  const readAt = async (offset: number, limit: number) => {
    const { items, total } = await read({ offset, limit })
    if (items.length === 0 && offset < total && Number.isFinite(total))
      throw new ConnectorError(
        'invalid_response',
        `Redmine gave nothing from number ${offset} on, although it claims ${total}`,
      )
    return { start: offset, items, total }
  }
  return async ({ cursor, size }) => {
    const { offset, known } = placeOf(cursor)
    const indexIn = (items: T[]) => items.findLastIndex(({ id }) => known.includes(id))
    const limit = Math.min((size ?? most) + known.length, most)
    let page = await readAt(Math.max(0, offset - known.length), limit)
    while (indexIn(page.items) === -1 && page.start > 0)
      page = await readAt(Math.max(0, Math.min(page.start, page.total) - most / 2), most)
    if (indexIn(page.items) === -1 && offset > known.length) page = await readAt(offset, limit)

    const fresh = page.items.slice(indexIn(page.items) + 1)
    const end = page.start + page.items.length
    const ids = [...known, ...fresh.map(({ id }) => id)].slice(-KNOWN)
    const more = page.items.length > 0 && end < page.total
    return paged(fresh, more ? { offset: end, known: ids } : null)
  }
}

/** Decodes a cursor: the number of items before the page, and the ids of the last of them. */
function placeOf(cursor: Json): { offset: number; known: number[] } {
  const { offset = 0, known = [] }: { offset?: unknown; known?: unknown } = Object(cursor)
  return { offset: Number(offset), known: Array.isArray(known) ? known.map(Number) : [] }
}
