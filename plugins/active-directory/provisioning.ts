/** Creates, updates and deletes accounts. */
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
import { addToGroup } from './grants.ts'
import { refuseOwnLogin } from './own-login.ts'

/** Fields that connector.json adds to the request. */
type Fields = { readonly [field: string]: unknown }

/** Attributes of the domain by the names of our fields. */
const ATTRIBUTES = {
  email: 'mail',
  given_name: 'givenName',
  family_name: 'sn',
  display_name: 'displayName',
  title: 'title',
  department: 'department',
} as const

/**
 * Maximum length of a user's `sAMAccountName`, in characters (MS-SAMR section 3.1.1.6). Windows truncates it,
 * too.
 */
const MAX_NAME = 20

/**
 * Creates an account with its groups. If a step fails, the account is removed again. The account is created
 * disabled, gets its password and groups, and is enabled last: a domain controller enables no account without
 * a password, and an interrupted call leaves no usable account.
 *
 * @throws `bad_request` with the code `entryAlreadyExists` if the name is taken; `invalid_value` if the
 * settings name places where accounts would not be found
 */
export async function createAccount(
  request: Input<'create_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const { username } = request
  if (!username) throw new ConnectorError('integration_missing_parameter', 'username is required')
  checkPlaces(ctx)
  const enabled = startsActive(request.user_status)
  // A user name may be an e-mail address. Its domain is not that of the directory.
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
      await addToGroup(ctx, group.integration_specific_id, person)
    const changes = mustChange(request)
    if (enabled) changes['userAccountControl'] = [String(NORMAL)]
    if (Object.keys(changes).length > 0) await ctx.ldap.modify(dn, [{ replace: changes }])
    return { status: enabled ? 'ACTIVE' : 'SUSPENDED', created: true, id: idOf(person) }
  })
}

/**
 * Truncates a name to the maximum length. Drops half of a surrogate pair and dots at the end, because a name
 * that ends with a dot is refused.
 */
const logonNameOf = (name: string): string =>
  name
    .slice(0, MAX_NAME)
    .replace(/[\ud800-\udbff]$/, '')
    .replace(/\.+$/, '')

/** Reads the entry that was just added. */
async function readNew(ctx: Ctx, base: string): Promise<LdapEntry> {
  const attributes = [...IDS, ...MEMBERSHIP]
  const { entries } = await ctx.ldap.search({ base, scope: 'base', attributes })
  const [entry] = entries
  if (entry !== undefined) return entry
  throw new ConnectorError('not_found', `The new account ${base} cannot be read`)
}

/**
 * Changes the given attributes and keeps the others. An empty value removes the attribute. A new e-mail
 * address is written to `mail` only: `proxyAddresses` belong to the mail system. If the attributes are
 * refused after the password was changed, the error says so.
 *
 * @throws `unsupported_operation` for a new password of the account that the connector signs in as
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
  if (password !== null || request['must_change_password'] === true)
    await refuseOwnLogin(ctx, entry, 'given a new password')
  await allOrNothing(async (undo) => {
    // Set the password first: it is more likely to be refused, by a policy, than the other changes. Also,
    // setting a password clears the mark that it must be changed, which `changes` may set.
    if (password !== null) {
      await ctx.ldap.password(entry.dn, password)
      undo('the new password', cannotUndo)
    }
    if (Object.keys(changes).length > 0) await ctx.ldap.modify(entry.dn, [{ replace: changes }])
  })
  return { id: idOf(entry) }
}

/**
 * Deletes an account permanently. The domain removes it from its groups.
 *
 * @throws `unsupported_operation` for the account that the connector signs in as
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

/**
 * Undo step for a new password. The old password is unknown, so the error reports that the new one is set.
 */
const cannotUndo = (): never => {
  throw new Error('it is set, and cannot be taken back')
}

const passwordOf = ({ password }: Fields): string | null =>
  typeof password === 'string' && password !== '' ? password : null

/** Returns the value of `pwdLastSet`: 0 if the password must be changed, -1 if it counts as just set. */
function mustChange({ must_change_password: must }: Fields): Record<string, LdapValue[]> {
  return typeof must === 'boolean' ? { pwdLastSet: [must ? '0' : '-1'] } : {}
}

/** Returns the suffix of user principal names: `upn_suffix`, or else the domain name. */
const suffixOf = (ctx: Ctx): string => ctx.settings.upn_suffix ?? domainName(ctx)
