/** One page of a listing: what a handler returns, and how an upstream's page becomes one. */
import type { Context, UpstreamReply } from '../contract/connector/context.ts'
import type { Json } from '../contract/schema/json.ts'
import { ConnectorError } from './connector-error.ts'
import { nextLink } from './link.ts'

/** A response with a cursor: the author's own JSON value that the next call gets back. */
export type Paged<T> = { readonly __paged: true; readonly response: T; readonly cursor: Json }

/** The items of one page, with or without a further one. */
export type Page<T> = readonly T[] | Paged<readonly T[]>

/** Reads the page after a cursor (null: the first), of a size if one was asked for. */
export type Listing<T> = (at: { cursor: Json; size: number | null }) => Page<T> | Promise<Page<T>>

/**
 * A response, and where the next page begins. Without a cursor (absent or null) it is the last page.
 * A page may hold fewer items than were asked for, or none with a further cursor.
 *
 * @example
 * const { users, next } = await api.get<{ users: User[]; next?: string }>('/users')
 * return paged(users.map(toAccount), next)
 */
export function paged<T>(response: T, cursor?: Json): Paged<T> {
  return { __paged: true, response, cursor: cursor ?? null }
}

/**
 * A page of an upstream that gives a cursor of its own; an empty one means the end.
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
 * A page of an upstream that counts items. `start` is where this page began and `first` the number
 * of the very first item (0 or 1). Give `total` where the upstream tells it; else `size`, the number
 * asked for: a shorter page is then the last.
 *
 * The next page begins where this one really ended, so an upstream may give fewer than it was asked.
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
 * A page of an upstream that links to the next one in its `Link` header. The cursor is the address,
 * which the client takes in place of a path.
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
 * A page of a list that the system only gives whole: `items` is all of it, in any order. Pages are in
 * the order of a key, of which no two items have the same; the cursor is the last one given. What is
 * created or deleted in the middle of a listing moves no other item. `most` is the size of a page when
 * the caller asks for none.
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

/** Where a page begins: a handler's context, or what a listing of `chain`, `nested` and `allItems` gets. */
export type At =
  | Pick<Context, 'page'>
  | { readonly cursor: Json; readonly size?: number | null | undefined }

/**
 * The cursor of the previous page as text, undefined on the first.
 *
 * @throws invalid_page_token when it is something else.
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
 * The cursor of the previous page as a number, `first` on the first.
 *
 * @throws invalid_page_token when it is something else.
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
 * The cursor of a listing that pages by several keys at once: as many texts and numbers as `first`, which is the cursor of
 * the first page.
 *
 * @throws invalid_page_token when it is something else.
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

/** Any texts and numbers in the places of those of `T`. */
type Keys<T> = { -readonly [K in keyof T]: T[K] extends string ? string : number }

const areLike = <const T extends readonly unknown[]>(keys: unknown, first: T): keys is Keys<T> =>
  Array.isArray(keys) &&
  keys.length === first.length &&
  keys.every((key, n) => typeof key === typeof first[n])

/** The items and the cursor of a page, whichever form it has. */
export function openPage<T>(page: Page<T>): { items: readonly T[]; cursor: Json } {
  return '__paged' in page
    ? { items: page.response, cursor: page.cursor }
    : { items: page, cursor: null }
}

const cursorOf = (at: At): Json => ('page' in at ? at.page.cursor : at.cursor)

const wrongCursor = (wanted: string): ConnectorError =>
  new ConnectorError('invalid_page_token', `The cursor of the previous page is not ${wanted}`)
