/** Reads ids, places and entries of the domain for all other modules. Independent of capabilities. */
import {
  type At,
  type ConnectorContext,
  ConnectorError,
  firstOf,
  guidText,
  guidValue,
  isBelow,
  type LdapEntry,
  type LdapFilter,
  type Paged,
  plainDn,
  searchAll,
  searchPage,
  sidText,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** Kinds of entries: users, without computers and trusts (MS-SAMR section 2.2.1.9), and groups. */
const KINDS = {
  account: { is: { eq: ['sAMAccountType', '805306368'] }, below: 'people_dn' },
  group: { is: { eq: ['objectCategory', 'group'] }, below: 'groups_dn' },
} as const satisfies Record<string, { is: LdapFilter; below: 'people_dn' | 'groups_dn' }>
export type Kind = keyof typeof KINDS

/** Attributes from which ids are made. */
export const IDS = ['objectGUID', 'objectSid']

/** Returns the id of an entry. It does not change when the entry is renamed or moved. */
export const idOf = (entry: LdapEntry): string => guidText(firstOf(entry, 'objectGUID') ?? '')

/** Returns the SID of a user or a group. */
export const sidOf = (entry: LdapEntry): string => sidText(firstOf(entry, 'objectSid') ?? '')

/** Returns the base DN of accounts or groups: the whole domain, unless the settings name another. */
export const placeOf = (ctx: Ctx, kind: Kind): string =>
  ctx.settings[KINDS[kind].below] ?? ctx.settings.base_dn

/** Returns the DN of the container for new accounts. */
export const newAccountsPlace = (ctx: Ctx): string =>
  ctx.settings.new_accounts_dn ??
  ctx.settings.people_dn ??
  ctx.ldap.dn(['CN', 'Users'], ctx.settings.base_dn)

/**
 * Checks the containers in the settings before an account is created or moved. An account outside `people_dn`
 * would not be found again. If `disabled_dn` were `people_dn` itself, or contained the place of new accounts,
 * disabled accounts could not be told from the others.
 *
 * @throws `invalid_value` naming the setting
 */
export function checkPlaces(ctx: Ctx): void {
  const { disabled_dn, new_accounts_dn } = ctx.settings
  const people = placeOf(ctx, 'account')
  for (const [name, dn] of Object.entries({ disabled_dn, new_accounts_dn })) {
    if (dn === undefined) continue
    const [one, other] = [plainDn(dn) ?? '', plainDn(people) ?? '']
    if (isBelow(one, other) || (name === 'new_accounts_dn' && one === other)) continue
    throw new ConnectorError(
      'invalid_value',
      `${name} does not lie below ${people}: accounts there would not be ${one === other ? 'told from others' : 'found'}`,
    )
  }
  if (disabled_dn === undefined) return
  const [fresh, off] = [plainDn(newAccountsPlace(ctx)) ?? '', plainDn(disabled_dn) ?? '']
  if (fresh === off || isBelow(fresh, off))
    throw new ConnectorError(
      'invalid_value',
      `new_accounts_dn (${newAccountsPlace(ctx)}) lies in disabled_dn: accounts that are switched on would not be told from those that are off`,
    )
}

/** Returns the domain name that `base_dn` denotes: `ad.acme.example`. */
export const domainName = ({ settings: { base_dn } }: Ctx): string =>
  (plainDn(base_dn) ?? '')
    .split(',')
    .flatMap((part) => (part.startsWith('dc=') ? [part.slice(3)] : []))
    .join('.')

const find = (ctx: Ctx, kind: Kind, attributes: readonly string[], filter?: LdapFilter) => {
  const { is } = KINDS[kind]
  return {
    base: placeOf(ctx, kind),
    filter: filter === undefined ? is : { and: [is, filter] },
    attributes: [...new Set([...IDS, ...attributes])],
    most: ctx.settings.page_size,
  }
}

/** Returns one page of the accounts or groups that match a filter. */
export const findPage = (
  ctx: Ctx,
  at: At,
  kind: Kind,
  attributes: readonly string[],
  filter?: LdapFilter,
): Promise<Paged<LdapEntry[]>> => searchPage(ctx, at, find(ctx, kind, attributes, filter))

/** Returns all accounts or groups that match a filter. */
export const findAll = (
  ctx: Ctx,
  kind: Kind,
  attributes: readonly string[],
  filter?: LdapFilter,
): Promise<LdapEntry[]> => searchAll(ctx, find(ctx, kind, attributes, filter))

/**
 * Returns the account or group with an id, if it lies below the base DN of its kind.
 *
 * @throws `not_found` if there is none
 */
export async function readEntry(
  ctx: Ctx,
  kind: Kind,
  id: string,
  attributes: readonly string[] = [],
): Promise<LdapEntry> {
  const value = guidValue(id)
  // A value that is not a GUID cannot be an id, so no search is needed.
  const found =
    value === null ? [] : await findAll(ctx, kind, attributes, { eq: ['objectGUID', value] })
  const [entry] = found
  if (entry !== undefined) return entry
  throw new ConnectorError('not_found', `There is no ${kind} ${id}`, {
    app_error_code: 'noSuchObject',
  })
}
