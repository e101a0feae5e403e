/** Creates, updates and deletes people. */
import {
  allOrNothing,
  attributesFrom,
  ConnectorError,
  type Input,
  type LdapEntry,
  type LdapValue,
  type Output,
  startsActive,
  valuesOf,
} from 'keyway/sdk'
import { readPerson, setEnabled } from './accounts.ts'
import { groupsWith, memberFilter } from './associations.ts'
import { type Ctx, idOf } from './directory.ts'
import { addToGroup, removeFromGroup } from './grants.ts'
import { refuseOwnLogin } from './own-login.ts'

/** Fields that connector.json adds to the request. */
type Fields = { readonly [field: string]: unknown }

/** Attributes of the directory by the names of our fields. */
const ATTRIBUTES = {
  email: 'mail',
  given_name: 'givenName',
  family_name: 'sn',
  display_name: 'displayName',
  title: 'title',
} as const

/**
 * Creates a person with its groups. If a step fails, the person is deleted again.
 *
 * @throws `bad_request` with the code `entryAlreadyExists` if the name is taken
 */
export async function createAccount(
  request: Input<'create_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const { username, given_name, family_name } = request
  if (!username) throw new ConnectorError('integration_missing_parameter', 'username is required')
  const enabled = startsActive(request.user_status)
  const { login_attribute, person_class, people_dn } = ctx.settings
  const dn = ctx.ldap.dn([login_attribute, username], people_dn)
  const id = idOf(dn)
  return allOrNothing(async (undo) => {
    await ctx.ldap.add(dn, {
      objectClass: [person_class],
      // Attributes that every person must have (RFC 4519 section 3.12).
      cn: [[given_name, family_name].filter(Boolean).join(' ') || username],
      sn: [family_name || username],
      ...attributesFrom(request, ATTRIBUTES, 'add'),
      [login_attribute]: [username],
    })
    undo(`the account ${id}`, () => ctx.ldap.delete(dn))
    if (isGiven(request['password'])) await ctx.ldap.password(dn, request['password'])
    if (!enabled) await setEnabled(ctx, dn, false)
    if (request.entitlements.length > 0) {
      const person = await readPerson(ctx, dn)
      for (const group of request.entitlements)
        await addToGroup(ctx, group.integration_specific_id, person)
    }
    return { status: enabled ? 'ACTIVE' : 'SUSPENDED', created: true, id }
  })
}

/**
 * Changes the given attributes and keeps the others. An empty value removes the attribute. If the attributes
 * are refused after the password was changed, the error says so.
 *
 * @throws `unsupported_operation` for a new password of the entry that the connector signs in as
 */
export async function updateAccount(
  request: Input<'update_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'update_account'>> {
  const attributes = attributesFrom(request, ATTRIBUTES, 'change')
  const password = isGiven(request['password']) ? request['password'] : null
  if (Object.keys(attributes).length === 0 && password === null)
    throw new ConnectorError(
      'bad_request',
      `Nothing to change. Give one of: ${[...Object.keys(ATTRIBUTES), 'password'].join(', ')}`,
    )
  const person = await readPerson(ctx, request.id, Object.keys(attributes))
  const { dn } = person
  if (password !== null) await refuseOwnLogin(ctx, person, 'given a new password')
  for (const [name, values] of Object.entries(attributes))
    attributes[name] = values.flatMap((value) => [value, ...othersOf(person, name, value)])
  await allOrNothing(async (undo) => {
    // Set the password first: it is more likely to be refused, by a policy, than the other changes.
    if (password !== null) {
      await ctx.ldap.password(dn, password)
      undo('the new password', cannotUndo)
    }
    if (Object.keys(attributes).length > 0) await ctx.ldap.modify(dn, [{ replace: attributes }])
  })
  return { id: idOf(dn) }
}

/**
 * Returns the values to keep along with a new one. The new value replaces the first one, which is the one
 * that Keyway shows.
 */
function othersOf(person: LdapEntry, name: string, value: LdapValue): string[] {
  const [, ...others] = valuesOf(person, name)
  return others.filter((one) => sameKey(one) !== sameKey(value))
}

/** Returns a key that is equal for values that a directory considers equal (RFC 4518 section 2.6.1). */
const sameKey = (value: LdapValue): string => String(value).trim().replace(/ +/g, ' ').toLowerCase()

/**
 * Deletes a person permanently, with its memberships. If a directory kept them, the next account of the same
 * name would inherit them.
 *
 * @throws `unsupported_operation` for the entry that the connector signs in as
 */
export async function deleteAccount(
  request: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  const person = await readPerson(ctx, request.account_id)
  await refuseOwnLogin(ctx, person, 'deleted')
  await ctx.ldap.delete(person.dn)
  for (const group of await groupsWith(ctx, memberFilter(ctx, person))) {
    try {
      await removeFromGroup(ctx, group, person)
    } catch (error) {
      // The account is deleted, as requested, and a retry would not find it.
      ctx.log.warn('A group still names a deleted account', {
        group: idOf(group.dn),
        why: String(Object(error).message),
      })
    }
  }
  return { status: 'DELETED', deleted: true }
}

/**
 * Undo step for a new password. The old password is unknown, so the error reports that the new one is set.
 */
const cannotUndo = (): never => {
  throw new Error('it is set, and cannot be taken back')
}

const isGiven = (value: unknown): value is string => typeof value === 'string' && value !== ''
