import type { Json } from '../contract/schema/json.ts'
import { ConnectorError } from './connector-error.ts'
import { type Listing, openPage, paged } from './paging.ts'

/** Most inner pages that one call reads: what is left comes in the next page, within the deadline. */
const MAX_READS = 50

/** Most items of a page when the caller asks for no size. */
const MAX_ITEMS = 1000

/** Most characters of JSON that things which are carried may have. */
const MAX_CARRIED = 4000

/**
 * Where a nested listing stands: before which page of things, at which of them, how far in it. Of things that are carried
 * it has the rest of their page, and where the page behind that begins.
 */
type Place = { outer: Json; index: number; inner: Json; rest: string | null }

/**
 * What is in each of many things, as one listing: the members of every group, the accounts of every
 * application. `outer` lists the things, `inner` what is in one of them; both are read as `chain` reads
 * its listings, and the result is one that `chain` takes. Empty things cost no page of their own.
 *
 * A page of things is read again for each page that begins within it: where one of them is deleted
 * meanwhile, the next may be missed. With `carries` the cursor holds what is left of such a page, if that has some 4,000
 * characters of JSON at most: for things that are JSON, listed in pages of a few dozen.
 *
 * @throws invalid_page_token when the cursor is not one of a nested listing.
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

/** What an earlier page carried: things that went through JSON, as their author says that they may. */
function carried<T>(rest: string): readonly T[] {
  try {
    const items: unknown = JSON.parse(rest)
    if (Array.isArray(items)) return items
  } catch {
    // It is no cursor of ours.
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
