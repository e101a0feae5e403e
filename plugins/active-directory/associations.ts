/**
 * Who is in which group. A primary group is in neither `member` nor `memberOf`: accounts name it by the last part of its
 * SID. Who is in a group is asked of the accounts, by pages: a group of 100,000 is never read whole.
 */
import {
  chain,
  firstOf,
  type Input,
  type LdapEntry,
  type LdapFilter,
  mapped,
  nested,
  type Output,
  type Paged,
  sidValue,
} from 'keyway/sdk'
import { type Ctx, findAll, findPage, idOf, readEntry, sidOf } from './directory.ts'
import { ridOf } from './groups.ts'

type Association = Output<'find_entitlement_associations'>[number]

/** Attributes that the groups of an account are told by. */
export const MEMBERSHIP = ['primaryGroupID']

export const isEffective = (ctx: Ctx): boolean => ctx.settings.associations === 'effective'

/** Groups of one page of the domain: what is left of them stands in the cursor, so that it is read once. */
const GROUPS_AT_ONCE = 15

/** One page of memberships: group after group, each with its people. */
export const findAssociations = (ctx: Ctx): Promise<Paged<Association[]>> =>
  chain<Association>(ctx, {
    members: nested(
      ({ cursor }) => findPage(ctx, { cursor, size: GROUPS_AT_ONCE }, 'group', []),
      (group) => async (at) => {
        const people = await peopleIn(ctx, group)
        const page = mapped(
          (from) => findPage(ctx, from, 'account', [], people),
          (person: LdapEntry) => [association(idOf(person), group)],
        )
        return page(at)
      },
      { carries: true },
    ),
  })

/** All groups that one person is in. */
export async function getAccountAssociations(
  request: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  const person = await readEntry(ctx, 'account', request.account_id, MEMBERSHIP)
  const groups = await findAll(ctx, 'group', [], await groupsOf(ctx, person))
  ctx.raw(groups)
  return groups.map((group) => association(idOf(person), group))
}

/** Whether a person is in a group by way of another one. */
export async function isInThroughGroups(
  ctx: Ctx,
  person: LdapEntry,
  group: LdapEntry,
): Promise<boolean> {
  const value = firstOf(group, 'objectGUID') ?? ''
  const itself: LdapFilter = { eq: ['objectGUID', { base64: value }] }
  const filter = { and: [itself, await groupsOf(ctx, person)] }
  return (await findAll(ctx, 'group', [], filter)).length > 0
}

const association = (account_id: string, group: LdapEntry): Association => ({
  account_id,
  integration_specific_entitlement_id: idOf(group),
  integration_specific_resource_id: '',
})

/** The accounts that are in a group. */
async function peopleIn(ctx: Ctx, group: LdapEntry): Promise<LdapFilter> {
  if (!isEffective(ctx)) return { or: [{ eq: ['memberOf', group.dn] }, ...byPrimary(group)] }
  const through: LdapFilter = { inChain: ['memberOf', group.dn] }
  const inner = await findAll(ctx, 'group', [], through)
  return { or: [through, ...[group, ...inner].flatMap(byPrimary)] }
}

const byPrimary = (group: LdapEntry): LdapFilter[] => {
  const rid = ridOf(group)
  return rid === null ? [] : [{ eq: ['primaryGroupID', rid] }]
}

/** The groups that a person is in. */
async function groupsOf(ctx: Ctx, person: LdapEntry): Promise<LdapFilter> {
  const primary = primaryFilter(person)
  if (!isEffective(ctx)) return { or: [{ eq: ['member', person.dn] }, primary] }
  // In the whole domain: it may lie elsewhere than the groups that are read.
  const { entries } = await ctx.ldap.search({ filter: primary, attributes: ['objectSid'] })
  const through = entries.map(({ dn }): LdapFilter => ({ inChain: ['member', dn] }))
  return { or: [{ inChain: ['member', person.dn] }, primary, ...through] }
}

/** Whether a group is the primary one of a person. */
export const isPrimary = (person: LdapEntry, group: LdapEntry): boolean =>
  ridOf(group) !== null && ridOf(group) === firstOf(person, 'primaryGroupID')

/** The primary group of a person: the SID of the domain, and the number that the person names. */
function primaryFilter(person: LdapEntry): LdapFilter {
  const domain = sidOf(person).replace(/-\d+$/, '')
  const value = sidValue(`${domain}-${firstOf(person, 'primaryGroupID') ?? '513'}`)
  return { eq: ['objectSid', value ?? { base64: '' }] }
}
