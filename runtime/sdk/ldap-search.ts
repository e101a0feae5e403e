/** Searches of `ctx.ldap` as listings: one page after the other, or all of them. */
import type { Context } from '../contract/connector/context.ts'
import type { LdapEntry, LdapSearch } from '../contract/connector/ldap-context.ts'
import { allItems } from './each-page.ts'
import { type At, type Paged, paged, textCursor } from './paging.ts'

/** What OpenLDAP gives at once unless it is set up otherwise; others give more. */
const MOST = 500

/** What to search; `most`: entries that the directory gives at once, 500 unless it is said. */
export type PagedSearch = Omit<LdapSearch, 'page' | 'scope'> & {
  most?: number
  /** Gets the servers that a page names for what it does not hold: nobody asks them. */
  onReferrals?: (servers: readonly string[]) => void
}

/**
 * One page of what a search finds: as many entries as the caller wants, and not more than the directory gives at once.
 *
 * @example
 * const people: LdapFilter = { eq: ['objectClass', 'person'] }
 * const { response, cursor } = await searchPage(ctx, ctx, { filter: people })
 */
export async function searchPage(
  ctx: Pick<Context, 'ldap'>,
  at: At,
  what: PagedSearch,
): Promise<Paged<LdapEntry[]>> {
  const { most = MOST, onReferrals, ...search } = what
  const { size } = 'page' in at ? at.page : at
  const page = { size: Math.min(size ?? most, most), cursor: textCursor(at) }
  const { entries, cursor, referrals } = await ctx.ldap.search({ ...search, page })
  if (referrals.length > 0) onReferrals?.(referrals)
  return paged(entries, cursor)
}

/**
 * All entries that a search finds, page by page.
 *
 * @example
 * const groups = await searchAll(ctx, { filter: { eq: ['member', dn] } })
 */
export const searchAll = (ctx: Pick<Context, 'ldap'>, search: PagedSearch): Promise<LdapEntry[]> =>
  allItems<LdapEntry>((at) => searchPage(ctx, at, search))
