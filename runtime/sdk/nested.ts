import type { Json } from '../contract/schema/json.ts'
import { ConnectorError } from './connector-error.ts'
import { type Listing, openPage, paged } from './paging.ts'

/** Most inner pages that one call reads: what is left comes in the next page, within the deadline. */
const MAX_READS = 50

/** Most items of a page when the caller asks for no size. */
const MAX_ITEMS = 1000

/** Where a nested listing stands: before which page of things, at which of them, how far in it. */
type Place = { outer: Json; index: number; inner: Json }

/**
 * What is in each of many things, as one listing: the members of every group, the accounts of every
 * application. `outer` lists the things, `inner` what is in one of them; both are read as `chain` reads
 * its listings, and the result is one that `chain` takes. Empty things cost no page of their own.
 *
 * A page of things is read again for each page that begins within it: where one of them is deleted
 * meanwhile, the next may be missed.
 *
 * @throws invalid_page_token when the cursor is not one of a nested listing.
 *
 * @example
 * const groups: Listing<Group> = () => api.get<Group[]>('/groups')
 * const memberships = nested(groups, (group) => async (at) => {
 *   const page = await api.get<{ users: User[]; next?: string }>(path`/groups/${group.id}/users`, {
 *     query: { after: textCursor(at), limit: at.size },
 *   })
 *   return cursorPage(
 *     page.users.map((user) => ({
 *       account: { integration_specific_id: user.id },
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
): Listing<T> {
  return async ({ cursor, size }) => {
    const start = placeOf(cursor)
    const things = openPage(await outer({ cursor: start.outer, size: null }))
    const most = size ?? MAX_ITEMS
    const items: T[] = []
    let { index, inner: within } = start
    for (let reads = 0; ; reads++) {
      const one = things.items[index]
      if (one === undefined) break
      if (items.length >= most || reads >= MAX_READS)
        return paged(items, { outer: start.outer, index, inner: within })
      const wanted = size === null ? null : most - items.length
      const page = openPage(await inner(one)({ cursor: within, size: wanted }))
      items.push(...page.items)
      within = page.cursor
      if (within === null) index += 1
    }
    const next = { outer: things.cursor, index: 0, inner: null }
    return paged(items, things.cursor === null ? null : next)
  }
}

function placeOf(cursor: Json): Place {
  if (cursor === null) return { outer: null, index: 0, inner: null }
  const { outer, index, inner }: { [member: string]: Json | undefined } = Object(cursor)
  if (typeof index === 'number') return { outer: outer ?? null, index, inner: inner ?? null }
  throw new ConnectorError('invalid_page_token', 'The cursor is not one of a nested listing')
}
