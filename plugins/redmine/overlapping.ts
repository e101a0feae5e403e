/** Listings that miss nothing when something before the page goes: a user who is locked, a member who leaves. */
import { ConnectorError, type Json, type Listing, paged } from 'keyway/sdk'

/** One answer: items, and how many there are in all; infinite where Redmine does not tell. */
type Read<T> = (at: { offset: number; limit: number }) => Promise<{ items: T[]; total: number }>

/** How many of the last items a page hands on to the next. */
const KNOWN = 20

/**
 * A listing by offset and limit, in an order that only Redmine can compare. A page begins with the last items of the page
 * before. Where they are not, it looks for them nearer to the beginning. Where all of them are gone it begins where the page
 * before ended.
 *
 * @throws invalid_response when the answer is empty where its total promises more.
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

/** Where a page begins: how many items lie before it, and the ids of the last of them. */
function placeOf(cursor: Json): { offset: number; known: number[] } {
  const { offset = 0, known = [] }: { offset?: unknown; known?: unknown } = Object(cursor)
  return { offset: Number(offset), known: Array.isArray(known) ? known.map(Number) : [] }
}
