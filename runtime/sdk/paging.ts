/** Pages of listings: the return value of handlers, and conversions from pages of upstream systems. */
import type { Context, UpstreamReply } from '../contract/connector/context.ts'
import type { Json } from '../contract/schema/json.ts'
import { ConnectorError } from './connector-error.ts'
import { nextLink } from './link.ts'

/** A response with a cursor. The cursor is any JSON value, which the next call gets back. */
export type Paged<T> = { readonly __paged: true; readonly response: T; readonly cursor: Json }

/** Items of one page, with a cursor if there is a further page. */
export type Page<T> = readonly T[] | Paged<readonly T[]>

/** Reads the page after a cursor, or the first one for null. `size` is the requested page size, if any. */
export type Listing<T> = (at: { cursor: Json; size: number | null }) => Page<T> | Promise<Page<T>>

/**
 * Returns a response with the cursor of the next page. Without a cursor, or with null, it is the last page. A
 * page may have fewer items than requested, or no items and a cursor.
 *
 * @example
 * const { users, next } = await api.get<{ users: User[]; next?: string }>('/users')
 * return paged(users.map(toAccount), next)
 */
export function paged<T>(response: T, cursor?: Json): Paged<T> {
  return { __paged: true, response, cursor: cursor ?? null }
}

/**
 * Returns a page of an upstream system that returns cursors itself. An empty cursor means the last page.
 *
 * @example
 * const { users, next } = await api.get<{ users: User[]; next: string }>('/users', {
 *   query: { cursor: textCursor(ctx), limit: ctx.page.size ?? 200 },
 * })
 * return cursorPage(users.map(toAccount), next)
 */
export function cursorPage<T>(items: T[], next: string | number | null | undefined): Paged<T[]> {
  return paged(items, next === '' ? null : next)
}

/**
 * Returns a page of an upstream system that pages by offset. `start` is the offset of this page and `first`
 * the offset of the first item (0 or 1). Give `total` if the system returns it. Otherwise give `size`, the
 * requested number of items: a shorter page is then the last one.
 *
 * The next page starts after the last item received, so a system may return fewer items than requested.
 *
 * @example
 * const start = numberCursor(ctx, 0)
 * const { users, total } = await api.get<{ users: User[]; total: number }>('/users', {
 *   query: { offset: start, limit: 100 },
 * })
 * return offsetPage(users.map(toAccount), { start, total })
 */
export function offsetPage<T>(
  items: T[],
  at: { start: number; first?: number; total?: number | undefined; size?: number | undefined },
): Paged<T[]> {
  const next = at.start + items.length
  const more =
    at.total === undefined ? items.length >= (at.size ?? 1) : next < at.total + (at.first ?? 0)
  return paged(items, more && items.length > 0 ? next : null)
}

/**
 * Returns a page of an upstream system that links to the next one in its `Link` header (RFC 8288). The cursor
 * is the address, which the client accepts in place of a path.
 *
 * @example
 * const reply = await api.request('GET', textCursor(ctx) ?? '/users?per_page=100')
 * const users = await readJson<User[]>(reply)
 * return linkPage(reply, users.map(toAccount))
 */
export function linkPage<T>(
  reply: Pick<UpstreamReply, 'url' | 'headers'>,
  items: T[],
  rel = 'next',
): Paged<T[]> {
  return paged(items, nextLink(reply, rel))
}

/**
 * Returns a page of a list that the system returns only as a whole. `items` are all items, in any order.
 * Pages are sorted by a unique key, and the cursor is the last key returned, so items that are created or
 * deleted during a listing do not shift others. `most` is the page size if the caller asks for none.
 *
 * @example
 * const users = await api.get<User[]>('/users')
 * const page = keyPage(ctx, users, ({ id }) => id)
 * return paged(page.response.map(toAccount), page.cursor)
 */
export function keyPage<T>(
  at: At,
  items: readonly T[],
  keyOf: (item: T) => string,
  most = 1000,
): Paged<T[]> {
  const after = textCursor(at)
  const rest = items
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => after === undefined || key > after)
    .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
  const { size } = 'page' in at ? at.page : at
  const page = rest.slice(0, size ?? most)
  const last = page.length < rest.length ? page.at(-1) : undefined
  return paged(
    page.map(({ item }) => item),
    last?.key,
  )
}

/**
 * Start of a page: the context of a handler, or the argument of a listing in `chain`, `nested` or `allItems`.
 */
export type At =
  | Pick<Context, 'page'>
  | { readonly cursor: Json; readonly size?: number | null | undefined }

/**
 * Returns the cursor of the previous page as text, or undefined on the first page.
 *
 * @throws invalid_page_token if the cursor is not text
 *
 * @example
 * const page = await api.get('/users', { query: { after: textCursor(ctx) } })
 */
export function textCursor(at: At): string | undefined {
  const cursor = cursorOf(at)
  if (cursor === null) return undefined
  if (typeof cursor === 'string') return cursor
  throw wrongCursor('text')
}

/**
 * Returns the cursor of the previous page as a number, or `first` on the first page.
 *
 * @throws invalid_page_token if the cursor is not a number
 *
 * @example
 * const page = await api.get('/users', { query: { offset: numberCursor(ctx, 0) } })
 */
export function numberCursor(at: At, first: number): number {
  const cursor = cursorOf(at)
  if (cursor === null) return first
  if (typeof cursor === 'number') return cursor
  throw wrongCursor('a number')
}

/**
 * Returns the cursor of a listing that pages by several keys: texts and numbers in the places of those in
 * `first`, which is the cursor of the first page.
 *
 * @throws invalid_page_token if the cursor has another form
 *
 * @example
 * const [employee, badge] = keysCursor(ctx, ['0', ''])
 * const { rows } = await ctx.sql.query('badges', [employee, badge, 500])
 * const toBadge = (row: SqlRow) => ({ account_id: nameOf(row, 'employee_id') })
 * return rowsPage(rows, 500, toBadge, (last) => [
 *   nameOf(last, 'employee_id'),
 *   nameOf(last, 'badge_id'),
 * ])
 */
export function keysCursor<const T extends readonly (string | number)[]>(
  at: At,
  first: T,
): { -readonly [K in keyof T]: T[K] extends string ? string : number } {
  const keys: unknown = cursorOf(at) ?? first
  if (areLike(keys, first)) return keys
  throw wrongCursor(`a list of ${first.length} keys`)
}

/** A list with texts and numbers in the same places as `T`. */
type Keys<T> = { -readonly [K in keyof T]: T[K] extends string ? string : number }

const areLike = <const T extends readonly unknown[]>(keys: unknown, first: T): keys is Keys<T> =>
  Array.isArray(keys) &&
  keys.length === first.length &&
  keys.every((key, n) => typeof key === typeof first[n])

/** Returns the items and the cursor of a page in either form. */
export function openPage<T>(page: Page<T>): { items: readonly T[]; cursor: Json } {
  return '__paged' in page
    ? { items: page.response, cursor: page.cursor }
    : { items: page, cursor: null }
}

const cursorOf = (at: At): Json => ('page' in at ? at.page.cursor : at.cursor)

const wrongCursor = (wanted: string): ConnectorError =>
  new ConnectorError('invalid_page_token', `The cursor of the previous page is not ${wanted}`)
