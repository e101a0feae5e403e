/** Creating, changing and deleting accounts. */
import {
  allOrNothing,
  attributesFrom,
  ConnectorError,
  type Input,
  type LdapEntry,
  type LdapValue,
  type Output,
  randomPassword,
  startsActive,
} from 'keyway/sdk'
import { MEMBERSHIP } from './associations.ts'
import { NORMAL, withDisabled } from './control.ts'
import {
  type Ctx,
  checkPlaces,
  domainName,
  IDS,
  idOf,
  newAccountsPlace,
  readEntry,
} from './directory.ts'
import { putInto } from './grants.ts'
import { refuseOwnLogin } from './own-login.ts'

/** Fields that connector.json adds. */
type Fields = { readonly [field: string]: unknown }

/** Our names, and the domain's. */
const ATTRIBUTES = {
  email: 'mail',
  given_name: 'givenName',
  family_name: 'sn',
  display_name: 'displayName',
  title: 'title',
  department: 'department',
} as const

/** Longest `sAMAccountName` of a user, in characters (MS-SAMR section 3.1.1.6); Windows cuts it, too. */
const MAX_NAME = 20

/**
 * Creates an account with groups, or nothing: one that cannot have all of it is removed again. It is made switched off,
 * gets its password and its groups, and is switched on last: a domain controller switches no account on without a password,
 * and a call that is cut off leaves none that is in use.
 *
 * @throws bad_request with the code `entryAlreadyExists` when the name is taken; invalid_value for places of the settings
 * where accounts would not be found
 */
export async function createAccount(
  request: Input<'create_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const { username } = request
  if (!username) throw new ConnectorError('integration_missing_parameter', 'username is required')
  checkPlaces(ctx)
  const enabled = startsActive(request.user_status)
  // A user name may be an address: its domain is not that of the directory.
  const [name = ''] = username.split('@')
  const logonName = logonNameOf(name)
  if (logonName === '')
    throw new ConnectorError(
      'invalid_value',
      'username has no logon name: it begins with what stands before the @, and is more than dots',
    )
  const dn = ctx.ldap.dn(['CN', name], newAccountsPlace(ctx))
  return allOrNothing(async (undo) => {
    await ctx.ldap.add(dn, {
      objectClass: ['user'],
      sAMAccountName: [logonName],
      userPrincipalName: [`${name}@${suffixOf(ctx)}`],
      userAccountControl: [withDisabled(String(NORMAL), true)],
      ...attributesFrom(request, ATTRIBUTES, 'add'),
    })
    undo(`the account ${dn}`, () => ctx.ldap.delete(dn))
    const person = await readNew(ctx, dn)
    const given = passwordOf(request)
    if (enabled || given !== null) await ctx.ldap.password(dn, given ?? randomPassword())
    for (const group of request.entitlements)
      await putInto(ctx, group.integration_specific_id, person)
    const changes = mustChange(request)
    if (enabled) changes['userAccountControl'] = [String(NORMAL)]
    if (Object.keys(changes).length > 0) await ctx.ldap.modify(dn, [{ replace: changes }])
    return { status: enabled ? 'ACTIVE' : 'SUSPENDED', created: true, id: idOf(person) }
  })
}

/** The name as long as may be: without half a character at its end, nor dots, for one that ends with a dot is refused. */
const logonNameOf = (name: string): string =>
  name
    .slice(0, MAX_NAME)
    .replace(/[\ud800-\udbff]$/, '')
    .replace(/\.+$/, '')

/** The entry that was just added, under the DN that it got. */
async function readNew(ctx: Ctx, base: string): Promise<LdapEntry> {
  const attributes = [...IDS, ...MEMBERSHIP]
  const { entries } = await ctx.ldap.search({ base, scope: 'base', attributes })
  const [entry] = entries
  if (entry !== undefined) return entry
  throw new ConnectorError('not_found', `The new account ${base} cannot be read`)
}

/**
 * Changes the attributes that are given, and leaves the others alone; an empty one is taken away. A new address is that of
 * `mail`: `proxyAddresses` are the mail system's. The error of attributes that are refused says so where the password is
 * changed already.
 */
export async function updateAccount(
  request: Input<'update_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'update_account'>> {
  const changes = { ...attributesFrom(request, ATTRIBUTES, 'change'), ...mustChange(request) }
  const password = passwordOf(request)
  if (Object.keys(changes).length === 0 && password === null)
    throw new ConnectorError(
      'bad_request',
      `Nothing to change. Give one of: ${[...Object.keys(ATTRIBUTES), 'password', 'must_change_password'].join(', ')}`,
    )
  const entry = await readEntry(ctx, 'account', request.id)
  await allOrNothing(async (undo) => {
    // First: a policy refuses it sooner than the domain refuses the rest, and one that is set takes the mark away.
    if (password !== null) {
      await ctx.ldap.password(entry.dn, password)
      undo('the new password', stays)
    }
    if (Object.keys(changes).length > 0) await ctx.ldap.modify(entry.dn, [{ replace: changes }])
  })
  return { id: idOf(entry) }
}

/**
 * Deletes an account for good; the domain takes it out of its groups.
 *
 * @throws unsupported_operation for the account that the connector signs in as
 */
export async function deleteAccount(
  request: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  const entry = await readEntry(ctx, 'account', request.account_id)
  await refuseOwnLogin(ctx, entry, 'deleted')
  await ctx.ldap.delete(entry.dn)
  return { status: 'DELETED', deleted: true }
}

/** Nobody knows the password before it: the failure says that the new one is set. */
const stays = (): never => {
  throw new Error('it is set, and cannot be taken back')
}

const passwordOf = ({ password }: Fields): string | null =>
  typeof password === 'string' && password !== '' ? password : null

/** 0 stands for a password that must be changed, -1 for one that was set just now. */
function mustChange({ must_change_password: must }: Fields): Record<string, LdapValue[]> {
  return typeof must === 'boolean' ? { pwdLastSet: [must ? '0' : '-1'] } : {}
}

/** The suffix of user principal names: that of the settings, or the name of the domain. */
const suffixOf = (ctx: Ctx): string => ctx.settings.upn_suffix ?? domainName(ctx)
