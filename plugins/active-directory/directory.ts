/** What every part asks the domain for: ids, places, entries. Knows no capability. */
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

/** What is looked for: users, without computers and trusts (MS-SAMR section 2.2.1.9), or groups. */
const KINDS = {
  account: { is: { eq: ['sAMAccountType', '805306368'] }, below: 'people_dn' },
  group: { is: { eq: ['objectCategory', 'group'] }, below: 'groups_dn' },
} as const satisfies Record<string, { is: LdapFilter; below: 'people_dn' | 'groups_dn' }>
export type Kind = keyof typeof KINDS

/** Attributes that ids are made of. */
export const IDS = ['objectGUID', 'objectSid']

/** The id of an entry, which it keeps when it is renamed or moved. */
export const idOf = (entry: LdapEntry): string => guidText(firstOf(entry, 'objectGUID') ?? '')

/** The SID of a user or a group. */
export const sidOf = (entry: LdapEntry): string => sidText(firstOf(entry, 'objectSid') ?? '')

/** Where accounts, or groups, lie: all of the domain, unless the settings say otherwise. */
export const placeOf = (ctx: Ctx, kind: Kind): string =>
  ctx.settings[KINDS[kind].below] ?? ctx.settings.base_dn

/** Where new accounts go. */
export const newAccountsPlace = (ctx: Ctx): string =>
  ctx.settings.new_accounts_dn ??
  ctx.settings.people_dn ??
  ctx.ldap.dn(['CN', 'Users'], ctx.settings.base_dn)

/**
 * Checks the containers of the settings before an account is made or moved. An account outside `people_dn` would not be
 * found again. If `disabled_dn` were `people_dn` itself, or held the place of new accounts, it would not tell disabled
 * accounts from the others.
 *
 * @throws invalid_value naming the setting
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

/** The name of the domain, of its DN: `ad.acme.example`. */
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

/** One page of accounts, or of groups, that a filter takes. */
export const findPage = (
  ctx: Ctx,
  at: At,
  kind: Kind,
  attributes: readonly string[],
  filter?: LdapFilter,
): Promise<Paged<LdapEntry[]>> => searchPage(ctx, at, find(ctx, kind, attributes, filter))

/** All of them. */
export const findAll = (
  ctx: Ctx,
  kind: Kind,
  attributes: readonly string[],
  filter?: LdapFilter,
): Promise<LdapEntry[]> => searchAll(ctx, find(ctx, kind, attributes, filter))

/**
 * The account, or the group, with an id, if it lies in its place.
 *
 * @throws not_found
 */
export async function readEntry(
  ctx: Ctx,
  kind: Kind,
  id: string,
  attributes: readonly string[] = [],
): Promise<LdapEntry> {
  const value = guidValue(id)
  // What is no id is not asked for.
  const found =
    value === null ? [] : await findAll(ctx, kind, attributes, { eq: ['objectGUID', value] })
  const [entry] = found
  if (entry !== undefined) return entry
  throw new ConnectorError('not_found', `There is no ${kind} ${id}`, {
    app_error_code: 'noSuchObject',
  })
}
