/** Adds people to groups and removes them. */
import {
  ConnectorError,
  hasCode,
  type Input,
  type LdapEntry,
  type Output,
  unlessAlready,
  valuesOf,
} from 'keyway/sdk'
import { readPerson } from './accounts.ts'
import { isEffective, isInThroughGroups, memberFilter } from './associations.ts'
import { type Ctx, idOf } from './directory.ts'
import { kindsOf, readGroup } from './groups.ts'

/**
 * Adds a person to a group. Adding a member again is not an error.
 *
 * @throws `not_found` if the person or group is unknown, or if the person is deleted in the meantime
 */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  // Read the person first: directories accept members that do not exist.
  const id = request.account_integration_specific_id
  const person = await readPerson(ctx, id)
  const group = await addToGroup(ctx, request.entitlement_integration_specific_id, person)
  try {
    await readPerson(ctx, id)
  } catch (error) {
    // A concurrent deletion did not see this membership. The next person with the same name would inherit it.
    if (hasCode(error, 'not_found')) await removeFromGroup(ctx, group, person)
    throw error
  }
  return { assigned: true }
}

/**
 * Removes a person from a group. Removing a person who is not a member is not an error.
 *
 * @throws `unsupported_operation` for the last member if the directory allows no empty group, and, with
 * effective associations, if the person is in the group through another group
 */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const person = await readPerson(ctx, request.account_integration_specific_id)
  const group = await readGroup(ctx, request.entitlement_integration_specific_id)
  await removeFromGroup(ctx, group, person)
  if (await stillLists(ctx, group, person))
    throw stillMemberError(
      group,
      'by a search that the directory makes for the group: change that one',
    )
  if (isEffective(ctx) && (await isInThroughGroups(ctx, person, idOf(group.dn))))
    throw stillMemberError(group, 'through another group, and can only be taken out of that one')
  return { unassigned: true }
}

const stillMemberError = (group: LdapEntry, how: string): ConnectorError =>
  new ConnectorError('unsupported_operation', `The account is still in ${idOf(group.dn)} ${how}`, {
    app_error_code: 'held_in_another_way',
  })

/**
 * Reports whether a group still lists a person who was removed from it. OpenLDAP adds members by a search
 * (slapo-dynlist(5)).
 */
async function stillLists(ctx: Ctx, { dn: base }: LdapEntry, person: LdapEntry): Promise<boolean> {
  const filter = memberFilter(ctx, person)
  const found = await ctx.ldap.search({ base, scope: 'base', filter, attributes: ['cn'] })
  return found.entries.length > 0
}

/**
 * Adds a person to a group and returns the group.
 *
 * @throws `not_found` if the group is unknown
 */
export async function addToGroup(ctx: Ctx, id: string, person: LdapEntry): Promise<LdapEntry> {
  const group = await readGroup(ctx, id)
  const [{ attribute, name }] = memberValuesOf(ctx, group, person)
  const change = { add: { [attribute]: [name] } }
  await unlessAlready(ctx.ldap.modify(group.dn, [change]), 'attributeOrValueExists')
  return group
}

/**
 * Removes a person from a group, under each name by which the group may list them.
 *
 * @throws `unsupported_operation` for the last member of a group that must have one, if `empty_group_member`
 * is not set
 */
export async function removeFromGroup(
  ctx: Ctx,
  group: LdapEntry,
  person: LdapEntry,
): Promise<void> {
  for (const place of memberValuesOf(ctx, group, person)) await removeName(ctx, group, place)
}

async function removeName(
  ctx: Ctx,
  group: LdapEntry,
  { attribute, name }: MemberValue,
): Promise<void> {
  const change = { delete: { [attribute]: [name] } }
  try {
    await unlessAlready(ctx.ldap.modify(group.dn, [change]), 'noSuchAttribute')
  } catch (error) {
    const { app_error_code, message }: { app_error_code?: unknown; message: string } = Object(error)
    if (app_error_code !== 'objectClassViolation') throw error
    const filler = ctx.settings.empty_group_member
    if (filler !== undefined) {
      const changes = [{ add: { [attribute]: [filler] } }, change]
      const isDone = await unlessAlready(
        ctx.ldap.modify(group.dn, changes),
        ...['attributeOrValueExists', 'noSuchAttribute'],
      )
      // A concurrent call has added the filler or removed the person, so the directory rejected both changes.
      if (!isDone) await unlessAlready(ctx.ldap.modify(group.dn, [change]), 'noSuchAttribute')
      return
    }
    throw new ConnectorError(
      'unsupported_operation',
      `The account is the last member of ${idOf(group.dn)}, and the directory allows no empty group: set empty_group_member (${message})`,
      { app_error_code: 'objectClassViolation' },
    )
  }
}

/** Attribute in which a group may list a person, and the value there. */
type MemberValue = { attribute: string; name: string }

/**
 * Returns the values by which a group may list a person, in each of its member attributes. People are added
 * by the first one.
 *
 * @throws `unsupported_operation` if the group lists user names and the person has none
 */
function memberValuesOf(
  ctx: Ctx,
  group: LdapEntry,
  person: LdapEntry,
): [MemberValue, ...MemberValue[]] {
  const { login_attribute } = ctx.settings
  const [first, ...others] = kindsOf(group).flatMap(({ attribute, holds }) => {
    const names = holds === 'dn' ? [person.dn] : valuesOf(person, login_attribute)
    return names.map((name): MemberValue => ({ attribute, name }))
  })
  if (first !== undefined) return [first, ...others]
  throw new ConnectorError(
    'unsupported_operation',
    `${idOf(group.dn)} names its members by ${login_attribute}, which ${idOf(person.dn)} does not have`,
  )
}
