/** Creating, changing and deleting people. */
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
import { putInto, takeFrom } from './grants.ts'
import { refuseOwnLogin } from './own-login.ts'

/** Fields that connector.json adds. */
type Fields = { readonly [field: string]: unknown }

/** Our names, and the directory's. */
const ATTRIBUTES = {
  email: 'mail',
  given_name: 'givenName',
  family_name: 'sn',
  display_name: 'displayName',
  title: 'title',
} as const

/**
 * Creates a person with groups, or nothing: one that cannot have all of it is removed again.
 *
 * @throws bad_request with the code `entryAlreadyExists` when the name is taken
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
      // What every person must have (RFC 4519 section 3.12).
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
        await putInto(ctx, group.integration_specific_id, person)
    }
    return { status: enabled ? 'ACTIVE' : 'SUSPENDED', created: true, id }
  })
}

/**
 * Changes the attributes that are given, and leaves the others alone; an empty one is taken away. The error of attributes
 * that are refused says so where the password is changed already.
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
  for (const [name, values] of Object.entries(attributes))
    attributes[name] = values.flatMap((value) => [value, ...othersOf(person, name, value)])
  await allOrNothing(async (undo) => {
    // First: a policy refuses it sooner than the directory refuses the rest.
    if (password !== null) {
      await ctx.ldap.password(dn, password)
      undo('the new password', stays)
    }
    if (Object.keys(attributes).length > 0) await ctx.ldap.modify(dn, [{ replace: attributes }])
  })
  return { id: idOf(dn) }
}

/** The values that stay beside a new one: it takes the place of the first, which is the one that Keyway shows. */
function othersOf(person: LdapEntry, name: string, value: LdapValue): string[] {
  const [, ...others] = valuesOf(person, name)
  return others.filter((one) => sameKey(one) !== sameKey(value))
}

/** What two values have in common that a directory takes for one (RFC 4518 section 2.6.1). */
const sameKey = (value: LdapValue): string => String(value).trim().replace(/ +/g, ' ').toLowerCase()

/**
 * Deletes a person for good, and its memberships: a directory that keeps them would give them to the next account of
 * the same name.
 *
 * @throws unsupported_operation for the entry that the connector signs in as
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
      await takeFrom(ctx, group, person)
    } catch (error) {
      // The account is gone: that is what was asked for, and cannot be asked for again.
      ctx.log.warn('A group still names a deleted account', {
        group: idOf(group.dn),
        why: String(Object(error).message),
      })
    }
  }
  return { status: 'DELETED', deleted: true }
}

/** Nobody knows the password before it: the failure says that the new one is set. */
const stays = (): never => {
  throw new Error('it is set, and cannot be taken back')
}

const isGiven = (value: unknown): value is string => typeof value === 'string' && value !== ''
