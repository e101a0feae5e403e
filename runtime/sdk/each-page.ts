import type { Json } from '../contract/schema/json.ts'
import { ConnectorError } from './connector-error.ts'
import { type Listing, openPage, type Page } from './paging.ts'

/** Bounds of `eachPage` and `allItems`: the requested page size and the maximum number of pages. */
export type Bounds = { size?: number; maxPages?: number }

/**
 * Reads a listing to its end within one call, page by page. A handler's own list should return one page per
 * call instead, so that the caller can stop and resume.
 *
 * @throws invalid_response if there are more than `maxPages` pages (1000 by default), or if a page points to
 * itself
 *
 * @example
 * const groups: Listing<Group> = async (at) => {
 *   const page = await api.get<{ groups: Group[]; next?: string }>('/groups', {
 *     query: { after: textCursor(at) },
 *   })
 *   return cursorPage(page.groups, page.next)
 * }
 * for await (const page of eachPage(groups)) {
 *   if (page.some((group) => group.name === 'Admins')) return true
 * }
 */
export async function* eachPage<T>(
  listing: Listing<T>,
  bounds: Bounds = {},
): AsyncGenerator<readonly T[], void, undefined> {
  const { size, maxPages = 1000 } = bounds
  let cursor: Json = null
  for (let pages = 0; pages < maxPages; pages++) {
    const page: Page<T> = await listing({ cursor, size: size ?? null })
    const { items, cursor: next } = openPage(page)
    yield items
    if (next === null) return
    if (JSON.stringify(next) === JSON.stringify(cursor))
      throw new ConnectorError('invalid_response', 'A page of the listing points at itself')
    cursor = next
  }
  throw new ConnectorError('invalid_response', `The listing has more than ${maxPages} pages`)
}

/**
 * Returns all items of a listing, read to its end within one call.
 *
 * @throws invalid_response like `eachPage`
 *
 * @example
 * const groups = await allItems<Group>(async (at) => {
 *   const page = await api.get<{ groups: Group[]; next?: string }>('/groups', {
 *     query: { after: textCursor(at) },
 *   })
 *   return cursorPage(page.groups, page.next)
 * })
 */
export async function allItems<T>(listing: Listing<T>, bounds: Bounds = {}): Promise<T[]> {
  const items: T[] = []
  for await (const page of eachPage(listing, bounds)) items.push(...page)
  return items
}
