import { ConnectorError } from './connector-error.ts'
import { type Listing, numberCursor, paged } from './paging.ts'

/** What one request gave: the items, and how many there are in all where the system tells it. */
export type OffsetAnswer<T> =
  | readonly T[]
  | { readonly items: readonly T[]; readonly total?: number | null | undefined }

/** How a listing by offset is read. */
export type OffsetOptions = {
  /** The number of the very first item: 0, or 1 in systems that count so. */
  first?: number
  /** The most that the system gives at once: never more are asked for; 100 unless said otherwise. */
  most?: number
  /** Items to ask for where the caller names no size; 100, or `most` where that is less. */
  size?: number
}

/**
 * A listing of a system that takes an offset and a limit. It is one that `chain`, `nested`, `mapped` and
 * `allItems` take; a handler calls it with `ctx.page`.
 *
 * The next page begins where this one really ended, so a system may give fewer than it was asked. The
 * listing ends where `total` says so; where a system tells none, with the first empty page, because a
 * short one may only be the system's own limit.
 *
 * @throws invalid_response when the answer is no list, or empty where `total` promises more: to an access
 * review, missing people look like people who have left.
 *
 * @example
 * const users = offsetListing(
 *   ({ offset, limit }) => api.get<User[]>('/users', { query: { offset, limit } }),
 *   { most: 200 },
 * )
 * return mapped(users, (user) => [toAccount(user)])(ctx.page)
 *
 * @example
 * // a system that tells how many there are
 * const users = offsetListing(async ({ offset, limit }) => {
 *   const page = await api.get<{ users: User[]; count: number }>('/users', {
 *     query: { start: offset, limit },
 *   })
 *   return { items: page.users, total: page.count }
 * })
 * return mapped(users, (user) => [toAccount(user)])(ctx.page)
 */
export function offsetListing<T>(
  read: (at: { offset: number; limit: number }) => OffsetAnswer<T> | Promise<OffsetAnswer<T>>,
  options: OffsetOptions = {},
): Listing<T> {
  const { first = 0, most = 100, size = Math.min(100, most) } = options
  return async (at) => {
    const offset = numberCursor(at, first)
    const answer = await read({ offset, limit: Math.min(at.size ?? size, most) })
    const { items, total } = opened(answer)
    const before = offset - first
    if (total === undefined) return paged(items, items.length === 0 ? null : offset + items.length)
    // It has shrunk since the last page. Some systems answer with their first page then.
    if (before > 0 && before >= total) return paged([])
    if (items.length === 0 && before < total)
      throw wrong(`The system gave no items from number ${offset} on, although it claims ${total}`)
    return paged(items, before + items.length < total ? offset + items.length : null)
  }
}

/** The items and the total of an answer. @throws invalid_response for what is no list. */
export function opened<T>(answer: OffsetAnswer<T>): {
  items: readonly T[]
  total: number | undefined
} {
  const { items, total }: { items?: readonly T[]; total?: number | null } = Array.isArray(answer)
    ? { items: answer }
    : Object(answer)
  if (!Array.isArray(items)) throw wrong('The system did not answer with a list')
  return { items, total: typeof total === 'number' ? total : undefined }
}

const wrong = (why: string) => new ConnectorError('invalid_response', why)
