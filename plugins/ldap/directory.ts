/**
 * Reads ids, pages and whole listings of the directory for all other modules. Independent of capabilities.
 */
import {
  type At,
  type ConnectorContext,
  ConnectorError,
  isBelow,
  type LdapEntry,
  type LdapFilter,
  type LdapSearch,
  type Paged,
  type PagedSearch,
  plainDn,
  searchAll,
  searchPage,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/**
 * Returns the normalised DN, which is the id of its entry. A text that is not a DN is returned unchanged, and
 * matches no entry.
 */
export const idOf = (dn: string): string => plainDn(dn) ?? dn

type Place = 'people_dn' | 'groups_dn'

/** Returns the normalised DN of a place in the settings, or an empty text if it is not set. */
export const placeOf = (ctx: Ctx, place: Place | 'policy_dn'): string =>
  plainDn(ctx.settings[place] ?? '') ?? ''

/** Reports whether an id lies below a place. False if the id is not a DN. */
const isIn = (ctx: Ctx, place: Place, id: string): boolean =>
  plainDn(id) !== null && isBelow(id, placeOf(ctx, place))

type Search = Pick<LdapSearch, 'base' | 'filter' | 'attributes'> & Pick<PagedSearch, 'ahead'>

const within = (ctx: Ctx, search: Search): PagedSearch => ({
  ...search,
  most: ctx.settings.page_size,
  onReferrals: ({ length }) =>
    ctx.log.warn('The directory keeps a part of this on other servers, which are not asked', {
      servers: length,
    }),
})

/** Returns one page of a search. Its size is the requested one, limited by `page_size`. */
export const findPage = (ctx: Ctx, at: At, search: Search): Promise<Paged<LdapEntry[]>> =>
  searchPage(ctx, at, within(ctx, search))

/** Returns all entries that match a search. */
export const findAll = (ctx: Ctx, search: Search): Promise<LdapEntry[]> =>
  searchAll(ctx, within(ctx, search))

/**
 * Returns the entry with an id, if it lies in its place and matches the filter.
 *
 * @throws `not_found` if there is none
 */
export async function readEntry(
  ctx: Ctx,
  id: string,
  search: { place: Place; filter: LdapFilter; attributes: string[] },
): Promise<LdapEntry> {
  const { place, filter, attributes } = search
  const base = idOf(id)
  // Do not search outside the place. The host would refuse, but for the caller the id is just unknown.
  const found = isIn(ctx, place, base)
    ? await ctx.ldap.search({ base, scope: 'base', filter, attributes })
    : { entries: [] }
  const [entry] = found.entries
  if (entry !== undefined) return entry
  const what = place === 'people_dn' ? 'account' : 'group'
  throw new ConnectorError('not_found', `There is no ${what} ${base}`, {
    app_error_code: 'noSuchObject',
  })
}
