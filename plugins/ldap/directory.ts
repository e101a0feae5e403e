/** What every part asks the directory for: ids, pages, whole listings. Knows no capability. */
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

/** The one spelling of a DN, which is the id of its entry; what is no DN stays as it is, and is found nowhere. */
export const idOf = (dn: string): string => plainDn(dn) ?? dn

type Place = 'people_dn' | 'groups_dn'

/** Where people, groups, or password policies are, in the spelling of ids; empty where it is not set. */
export const placeOf = (ctx: Ctx, place: Place | 'policy_dn'): string =>
  plainDn(ctx.settings[place] ?? '') ?? ''

/** Whether an id is that of something below where people, or groups, are; what is no DN is the id of nothing. */
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

/** One page of a search; as many entries as the caller wants, and not more than the settings allow. */
export const findPage = (ctx: Ctx, at: At, search: Search): Promise<Paged<LdapEntry[]>> =>
  searchPage(ctx, at, within(ctx, search))

/** All entries that a search finds. */
export const findAll = (ctx: Ctx, search: Search): Promise<LdapEntry[]> =>
  searchAll(ctx, within(ctx, search))

/**
 * The entry with an id, if it lies in its place and the filter takes it.
 *
 * @throws not_found
 */
export async function readEntry(
  ctx: Ctx,
  id: string,
  search: { place: Place; filter: LdapFilter; attributes: string[] },
): Promise<LdapEntry> {
  const { place, filter, attributes } = search
  const base = idOf(id)
  // Outside its place nothing is asked for: the host would refuse, and the caller only knows no such id.
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
