/** Searches of `ctx.ldap` as listings: one page after the other, or all of them. */
import type { Context } from '../contract/connector/context.ts'
import type { LdapEntry, LdapSearch } from '../contract/connector/ldap-context.ts'
import { allItems } from './each-page.ts'
import { type At, type Paged, paged, textCursor } from './paging.ts'

/** What OpenLDAP gives at once unless it is set up otherwise; others give more. */
const MOST = 500

/**
 * What to search. `most`: entries that the directory gives at once, 500 unless it is said. `ahead`: how many entries the
 * next page will be asked for, as many as this one unless it is said; null where that is not known yet.
 */
export type PagedSearch = Omit<LdapSearch, 'page' | 'scope'> & {
  most?: number
  ahead?: number | null
  /** Gets the servers that a page names for what it does not hold: nobody asks them. */
  onReferrals?: (servers: readonly string[]) => void
}

/**
 * One page of what a search finds: as many entries as the caller wants, and not more than the directory gives at once.
 *
 * @example
 * const people: LdapFilter = { eq: ['objectClass', 'person'] }
 * const { response, cursor } = await searchPage(ctx, ctx, { filter: people })
 * const toAccount = (entry: LdapEntry) => ({ integration_specific_id: entry.dn })
 * return paged(response.map(toAccount), cursor)
 */
export async function searchPage(
  ctx: Pick<Context, 'ldap'>,
  at: At,
  what: PagedSearch,
): Promise<Paged<LdapEntry[]>> {
  const { most = MOST, ahead, onReferrals, ...search } = what
  const { size } = 'page' in at ? at.page : at
  const wanted = Math.min(size ?? most, most)
  const cursor = textCursor(at)
  // Who came for a second page comes for the third.
  const next = cursor === undefined || ahead === null ? null : Math.min(ahead ?? wanted, most)
  const page = { size: wanted, cursor, ahead: next }
  const found = await ctx.ldap.search({ ...search, page })
  if (found.referrals.length > 0) onReferrals?.(found.referrals)
  return paged(found.entries, found.cursor)
}

/**
 * All entries that a search finds, page by page.
 *
 * @example
 * const groups = await searchAll(ctx, { filter: { eq: ['member', dn] } })
 */
export const searchAll = (ctx: Pick<Context, 'ldap'>, search: PagedSearch): Promise<LdapEntry[]> =>
  allItems<LdapEntry>((at) => searchPage(ctx, at, search))
