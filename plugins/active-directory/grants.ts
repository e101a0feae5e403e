/** Adds people to groups and removes them. */
import { ConnectorError, type Input, type LdapEntry, type Output, unlessAlready } from 'keyway/sdk'
import { isEffective, isInThroughGroups, isPrimary, MEMBERSHIP } from './associations.ts'
import { type Ctx, readEntry } from './directory.ts'
import { readGroup } from './groups.ts'

/**
 * Adds a person to a group. Adding a member again is not an error, even if it is the person's primary group.
 */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  const person = await readEntry(
    ctx,
    'account',
    request.account_integration_specific_id,
    MEMBERSHIP,
  )
  await addToGroup(ctx, request.entitlement_integration_specific_id, person)
  return { assigned: true }
}

/**
 * Adds a person to the group with this id.
 *
 * @throws `not_found` if the group is unknown
 */
export async function addToGroup(ctx: Ctx, id: string, person: LdapEntry): Promise<void> {
  const group = await readGroup(ctx, id)
  const write = ctx.ldap.modify(group.dn, [{ add: { member: [person.dn] } }])
  await unlessAlready(write, 'entryAlreadyExists', 'attributeOrValueExists')
}

/**
 * Removes a person from a group. Removing a person who is not a member is not an error.
 *
 * @throws `unsupported_operation` for the primary group, and, with effective associations, if the person is
 * in the group through another group
 */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const person = await readEntry(
    ctx,
    'account',
    request.account_integration_specific_id,
    MEMBERSHIP,
  )
  const group = await readGroup(ctx, request.entitlement_integration_specific_id)
  if (isPrimary(person, group))
    throw new ConnectorError(
      'unsupported_operation',
      `${group.dn} is the primary group of the account, which cannot be taken: give it another primary group first`,
      { app_error_code: 'primary_group' },
    )
  await removeFromGroup(ctx, group, person)
  if (isEffective(ctx) && (await isInThroughGroups(ctx, person, group)))
    throw new ConnectorError(
      'unsupported_operation',
      `The account is still in ${group.dn} through another group, and can only be taken out of that one`,
      { app_error_code: 'held_in_another_way' },
    )
  return { unassigned: true }
}

/**
 * Removes a member. `unwillingToPerform` has many causes. It counts as success only if the person is not in
 * the group.
 */
async function removeFromGroup(ctx: Ctx, group: LdapEntry, person: LdapEntry): Promise<void> {
  const write = ctx.ldap.modify(group.dn, [{ delete: { member: [person.dn] } }])
  try {
    await unlessAlready(write, 'noSuchAttribute')
  } catch (error) {
    if (Object(error).app_error_code !== 'unwillingToPerform') throw error
    const { entries } = await ctx.ldap.search({
      base: group.dn,
      scope: 'base',
      filter: { eq: ['member', person.dn] },
      attributes: ['objectGUID'],
    })
    if (entries.length > 0) throw error
  }
}
