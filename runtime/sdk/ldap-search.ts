/** Searches of `ctx.ldap` as listings: page by page, or all at once. */
import type { Context } from '../contract/connector/context.ts'
import type { LdapEntry, LdapSearch } from '../contract/connector/ldap-context.ts'
import { allItems } from './each-page.ts'
import { type At, type Paged, paged, textCursor } from './paging.ts'

/** Default page limit of OpenLDAP in entries. Other servers allow more. */
const MAX_PAGE_ENTRIES = 500

/**
 * A search that is read in pages. `most` is the maximum number of entries that the directory returns at once,
 * 500 by default. `ahead` is the size with which the next page will be requested: by default the size of this
 * page, null if it is not known yet.
 */
export type PagedSearch = Omit<LdapSearch, 'page' | 'scope'> & {
  most?: number
  ahead?: number | null
  /** Called with the referrals of a page: servers that hold further entries. They are not followed. */
  onReferrals?: (servers: readonly string[]) => void
}

/**
 * Returns one page of a search: as many entries as the caller asks for, at most what the directory returns at
 * once.
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
  const { most = MAX_PAGE_ENTRIES, ahead, onReferrals, ...search } = what
  const { size } = 'page' in at ? at.page : at
  const wanted = Math.min(size ?? most, most)
  const cursor = textCursor(at)
  // A caller that asks for a second page will ask for a third.
  const next = cursor === undefined || ahead === null ? null : Math.min(ahead ?? wanted, most)
  const page = { size: wanted, cursor, ahead: next }
  const found = await ctx.ldap.search({ ...search, page })
  if (found.referrals.length > 0) onReferrals?.(found.referrals)
  return paged(found.entries, found.cursor)
}

/**
 * Returns all entries of a search, read page by page.
 *
 * @example
 * const groups = await searchAll(ctx, { filter: { eq: ['member', dn] } })
 */
export const searchAll = (ctx: Pick<Context, 'ldap'>, search: PagedSearch): Promise<LdapEntry[]> =>
  allItems<LdapEntry>((at) => searchPage(ctx, at, search))
