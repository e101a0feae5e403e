/**
 * Group memberships. A primary group is in neither `member` nor `memberOf`: accounts name it by the last part
 * of its SID. The members of a group are found by a paged search of accounts, so a group of 100,000 is never
 * read whole.
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

/** Attributes that determine the groups of an account. */
export const MEMBERSHIP = ['primaryGroupID']

export const isEffective = (ctx: Ctx): boolean => ctx.settings.associations === 'effective'

/**
 * Number of groups in one page of the domain. Groups that are not processed yet are kept in the cursor, so
 * the page is read only once.
 */
const GROUPS_AT_ONCE = 15

/** Returns one page of memberships, group by group. */
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

/** Returns all groups of one person. */
export async function getAccountAssociations(
  request: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  const person = await readEntry(ctx, 'account', request.account_id, MEMBERSHIP)
  const groups = await findAll(ctx, 'group', [], await groupsOf(ctx, person))
  ctx.raw(groups)
  return groups.map((group) => association(idOf(person), group))
}

/** Reports whether a person is in a group through another group. */
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

/** Returns a filter for the accounts in a group. */
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

/** Returns a filter for the groups of a person. */
async function groupsOf(ctx: Ctx, person: LdapEntry): Promise<LdapFilter> {
  const primary = primaryFilter(person)
  if (!isEffective(ctx)) return { or: [{ eq: ['member', person.dn] }, primary] }
  // Search the whole domain: the primary group may be outside `groups_dn`.
  const { entries } = await ctx.ldap.search({ filter: primary, attributes: ['objectSid'] })
  const through = entries.map(({ dn }): LdapFilter => ({ inChain: ['member', dn] }))
  return { or: [{ inChain: ['member', person.dn] }, primary, ...through] }
}

/** Reports whether a group is the primary group of a person. */
export const isPrimary = (person: LdapEntry, group: LdapEntry): boolean =>
  ridOf(group) !== null && ridOf(group) === firstOf(person, 'primaryGroupID')

/**
 * Returns a filter for the primary group of a person. Its SID is that of the domain, followed by the person's
 * `primaryGroupID`.
 */
function primaryFilter(person: LdapEntry): LdapFilter {
  const domain = sidOf(person).replace(/-\d+$/, '')
  const value = sidValue(`${domain}-${firstOf(person, 'primaryGroupID') ?? '513'}`)
  return { eq: ['objectSid', value ?? { base64: '' }] }
}
