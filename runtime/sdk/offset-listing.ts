import { ConnectorError } from './connector-error.ts'
import { type Listing, numberCursor, paged } from './paging.ts'

/** Result of one request: the items, and their total number if the system returns it. */
export type OffsetAnswer<T> =
  | readonly T[]
  | { readonly items: readonly T[]; readonly total?: number | null | undefined }

/** Options of a listing by offset. */
export type OffsetOptions = {
  /** Offset of the first item: 0, or 1 in systems that count from 1. */
  first?: number
  /**
   * Maximum number of items that the system returns at once; larger pages are not requested. Default: 100.
   */
  most?: number
  /** Page size if the caller asks for none. Default: 100, or `most` if that is less. */
  size?: number
}

/**
 * A listing of a system that takes an offset and a limit. `chain`, `nested`, `mapped` and `allItems` accept
 * it; a handler calls it with `ctx.page`.
 *
 * The next page starts after the last item received, so a system may return fewer items than requested. The
 * listing ends at `total`. If the system returns no total, it ends with the first empty page, because a short
 * page may only mean that the system has a lower limit.
 *
 * @throws invalid_response if the answer is not a list, or is empty although `total` promises more items: an
 *   access review would treat the missing people as people who have left
 *
 * @example
 * const users = offsetListing(
 *   ({ offset, limit }) => api.get<User[]>('/users', { query: { offset, limit } }),
 *   { most: 200 },
 * )
 * return mapped(users, (user) => [toAccount(user)])(ctx.page)
 *
 * @example
 * // a system that returns the total
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
    // Items were deleted since the last page. Some systems then return their first page.
    if (before > 0 && before >= total) return paged([])
    if (items.length === 0 && before < total)
      throw wrong(`The system gave no items from number ${offset} on, although it claims ${total}`)
    return paged(items, before + items.length < total ? offset + items.length : null)
  }
}

/** Returns the items and the total of an answer. @throws invalid_response if it is not a list */
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
