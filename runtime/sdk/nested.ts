import type { Json } from '../contract/schema/json.ts'
import { ConnectorError } from './connector-error.ts'
import { type Listing, openPage, paged } from './paging.ts'

/**
 * Maximum number of inner pages that one call reads, to stay within the deadline. The next page continues.
 */
const MAX_READS = 50

/** Maximum number of items in a page if the caller asks for no size. */
const MAX_ITEMS = 1000

/** Maximum length of carried outer items, in characters of JSON. */
const MAX_CARRIED = 4000

/**
 * Position in a nested listing: the cursor of the outer page, the index in it, and the cursor within that
 * outer item. If outer items are carried, `rest` holds the remaining ones, and `outer` is the cursor of the
 * page after them.
 */
type Place = { outer: Json; index: number; inner: Json; rest: string | null }

/**
 * Flattens listings of listings into one: the members of every group, the accounts of every application.
 * `outer` lists the outer items, `inner` the items within one of them. Both are listings as in `chain`, and
 * `chain` accepts the result. An outer item without inner items takes no page of its own.
 *
 * The page of outer items is read again for each page that begins within it. If an outer item is deleted in
 * between, the next one may be skipped. With `carries`, the cursor holds the remaining outer items, if they
 * are at most 4,000 characters of JSON. Use it for outer items that are JSON and come in pages of a few
 * dozen.
 *
 * @throws invalid_page_token if the cursor was not made by a nested listing
 *
 * @example
 * const groups: Listing<Group> = () => api.get<Group[]>('/groups')
 * type Membership = Output<'find_entitlement_associations'>[number]
 * const memberships = nested(groups, (group) => async (at): Promise<Paged<Membership[]>> => {
 *   const page = await api.get<{ users: User[]; next?: string }>(path`/groups/${group.id}/users`, {
 *     query: { after: textCursor(at), limit: at.size },
 *   })
 *   return cursorPage(
 *     page.users.map((user) => ({
 *       account_id: user.id,
 *       integration_specific_entitlement_id: group.id,
 *       integration_specific_resource_id: '',
 *     })),
 *     page.next,
 *   )
 * })
 * return memberships(ctx.page)
 */
export function nested<Outer, T>(
  outer: Listing<Outer>,
  inner: (one: Outer) => Listing<T>,
  options?: { carries?: boolean },
): Listing<T> {
  return async ({ cursor, size }) => {
    const start = placeOf(cursor)
    const things: Things<Outer> =
      start.rest === null
        ? openPage(await outer({ cursor: start.outer, size: null }))
        : { items: carried(start.rest), cursor: start.outer }
    const most = size ?? MAX_ITEMS
    const items: T[] = []
    let { index, inner: within } = start
    for (let reads = 0; ; reads++) {
      const one = things.items[index]
      if (one === undefined) break
      if (items.length >= most || reads >= MAX_READS)
        return paged(items, placeIn(things, index, within))
      const wanted = size === null ? null : most - items.length
      const page = openPage(await inner(one)({ cursor: within, size: wanted }))
      items.push(...page.items)
      within = page.cursor
      if (within === null) index += 1
    }
    const next = { outer: things.cursor, index: 0, inner: null }
    return paged(items, things.cursor === null ? null : next)

    function placeIn(page: Things<Outer>, at: number, inner: Json): { [member: string]: Json } {
      const isCarried = options?.carries === true || start.rest !== null
      const rest = isCarried ? JSON.stringify(page.items.slice(at)) : null
      return rest !== null && (start.rest !== null || rest.length <= MAX_CARRIED)
        ? { outer: page.cursor, index: 0, inner, rest }
        : { outer: start.outer, index: at, inner }
    }
  }
}

type Things<T> = { items: readonly T[]; cursor: Json }

/** Parses the outer items in a cursor. With `carries`, the author declares that JSON preserves them. */
function carried<T>(rest: string): readonly T[] {
  try {
    const items: unknown = JSON.parse(rest)
    if (Array.isArray(items)) return items
  } catch {
    // Not a cursor of this listing.
  }
  throw wrongCursor()
}

function placeOf(cursor: Json): Place {
  if (cursor === null) return { outer: null, index: 0, inner: null, rest: null }
  const { outer, index, inner, rest }: { [member: string]: Json | undefined } = Object(cursor)
  if (typeof index === 'number')
    return {
      ...{ outer: outer ?? null, index, inner: inner ?? null },
      rest: typeof rest === 'string' ? rest : null,
    }
  throw wrongCursor()
}

const wrongCursor = (): ConnectorError =>
  new ConnectorError('invalid_page_token', 'The cursor is not one of a nested listing')
