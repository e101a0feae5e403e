/** Putting people into groups, and taking them out. */
import { ConnectorError, type Input, type LdapEntry, type Output, unlessAlready } from 'keyway/sdk'
import { isEffective, isInThroughGroups, isPrimary, MEMBERSHIP } from './associations.ts'
import { type Ctx, readEntry } from './directory.ts'
import { readGroup } from './groups.ts'

/** Puts a person into a group; one who is in it stays there, also as in the primary group. */
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
  await putInto(ctx, request.entitlement_integration_specific_id, person)
  return { assigned: true }
}

/** @throws not_found for an unknown group */
export async function putInto(ctx: Ctx, id: string, person: LdapEntry): Promise<void> {
  const group = await readGroup(ctx, id)
  const write = ctx.ldap.modify(group.dn, [{ add: { member: [person.dn] } }])
  await unlessAlready(write, 'entryAlreadyExists', 'attributeOrValueExists')
}

/**
 * Takes a person out of a group; one who is not in it is out already.
 *
 * @throws unsupported_operation for the primary group, and with effective associations for who is in it through another
 * group
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
  await takeFrom(ctx, group, person)
  if (isEffective(ctx) && (await isInThroughGroups(ctx, person, group)))
    throw new ConnectorError(
      'unsupported_operation',
      `The account is still in ${group.dn} through another group, and can only be taken out of that one`,
      { app_error_code: 'held_in_another_way' },
    )
  return { unassigned: true }
}

/** `unwillingToPerform` has many reasons: it is success only where the person is not in the group. */
async function takeFrom(ctx: Ctx, group: LdapEntry, person: LdapEntry): Promise<void> {
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
