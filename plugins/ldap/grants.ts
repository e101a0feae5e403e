/** Putting people into groups, and taking them out. */
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
 * Puts a person into a group; one who is in it stays there.
 *
 * @throws not_found for an unknown person or group, and for a person who is deleted meanwhile
 */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  // Directories take members that are not there.
  const id = request.account_integration_specific_id
  const person = await readPerson(ctx, id)
  const group = await putInto(ctx, request.entitlement_integration_specific_id, person)
  try {
    await readPerson(ctx, id)
  } catch (error) {
    // A deletion that ran meanwhile did not see this membership. The next person with the same name would inherit it.
    if (hasCode(error, 'not_found')) await takeFrom(ctx, group, person)
    throw error
  }
  return { assigned: true }
}

/**
 * Takes a person out of a group; one who is not in it is out already.
 *
 * @throws unsupported_operation for the last member where the directory allows no empty group, and with effective
 * associations for who is in it through another group
 */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const person = await readPerson(ctx, request.account_integration_specific_id)
  const group = await readGroup(ctx, request.entitlement_integration_specific_id)
  await takeFrom(ctx, group, person)
  if (await stillNames(ctx, group, person))
    throw stillIn(group, 'by a search that the directory makes for the group: change that one')
  if (isEffective(ctx) && (await isInThroughGroups(ctx, person, idOf(group.dn))))
    throw stillIn(group, 'through another group, and can only be taken out of that one')
  return { unassigned: true }
}

const stillIn = (group: LdapEntry, how: string): ConnectorError =>
  new ConnectorError('unsupported_operation', `The account is still in ${idOf(group.dn)} ${how}`, {
    app_error_code: 'held_in_another_way',
  })

/** Whether a group names a person who was taken out of it: OpenLDAP adds members by a search (slapo-dynlist(5)). */
async function stillNames(ctx: Ctx, { dn: base }: LdapEntry, person: LdapEntry): Promise<boolean> {
  const filter = memberFilter(ctx, person)
  const found = await ctx.ldap.search({ base, scope: 'base', filter, attributes: ['cn'] })
  return found.entries.length > 0
}

/** Puts a person into a group, and gives the group. @throws not_found for an unknown group */
export async function putInto(ctx: Ctx, id: string, person: LdapEntry): Promise<LdapEntry> {
  const group = await readGroup(ctx, id)
  const [{ attribute, name }] = placesOf(ctx, group, person)
  const change = { add: { [attribute]: [name] } }
  await unlessAlready(ctx.ldap.modify(group.dn, [change]), 'attributeOrValueExists')
  return group
}

/**
 * Takes a person out of a group, under each name that the group may have for them.
 *
 * @throws unsupported_operation for the last member of a group that must have one, where the settings name no other
 */
export async function takeFrom(ctx: Ctx, group: LdapEntry, person: LdapEntry): Promise<void> {
  for (const place of placesOf(ctx, group, person)) await takeName(ctx, group, place)
}

async function takeName(ctx: Ctx, group: LdapEntry, { attribute, name }: Place): Promise<void> {
  const change = { delete: { [attribute]: [name] } }
  try {
    await unlessAlready(ctx.ldap.modify(group.dn, [change]), 'noSuchAttribute')
  } catch (error) {
    const { app_error_code, message }: { app_error_code?: unknown; message: string } = Object(error)
    if (app_error_code !== 'objectClassViolation') throw error
    const filler = ctx.settings.empty_group_member
    if (filler !== undefined) {
      const both = [{ add: { [attribute]: [filler] } }, change]
      const isDone = await unlessAlready(
        ctx.ldap.modify(group.dn, both),
        ...['attributeOrValueExists', 'noSuchAttribute'],
      )
      // Another call put the filler in, or took the person out, meanwhile: the directory did neither of the two.
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

/** Where a group may name a person, and by what. */
type Place = { attribute: string; name: string }

/**
 * How a group may name a person, in each of its lists of members; it is added by the first.
 *
 * @throws unsupported_operation for a person without a user name, in a group of those
 */
function placesOf(ctx: Ctx, group: LdapEntry, person: LdapEntry): [Place, ...Place[]] {
  const { login_attribute } = ctx.settings
  const [first, ...others] = kindsOf(group).flatMap(({ attribute, holds }) => {
    const names = holds === 'dn' ? [person.dn] : valuesOf(person, login_attribute)
    return names.map((name): Place => ({ attribute, name }))
  })
  if (first !== undefined) return [first, ...others]
  throw new ConnectorError(
    'unsupported_operation',
    `${idOf(group.dn)} names its members by ${login_attribute}, which ${idOf(person.dn)} does not have`,
  )
}
