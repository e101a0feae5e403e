/** Who is in which group: read from the groups or from memberOf, direct or through groups in groups. */
import {
  firstOf,
  type Input,
  ifThere,
  isBelow,
  keyPage,
  type LdapEntry,
  type LdapFilter,
  type Listing,
  nested,
  type Output,
  type Paged,
  paged,
  valuesOf,
} from 'keyway/sdk'
import { peopleFilter, readPerson } from './accounts.ts'
import { type Ctx, findAll, findPage, idOf, placeOf } from './directory.ts'
import { groupFilter, MEMBER_ATTRIBUTES, membersOf, readGroup } from './groups.ts'

type Association = Output<'find_entitlement_associations'>[number]

/** Most groups, or user names, of one filter. */
const AT_ONCE = 100

/** One page of memberships. */
export const findAssociations = (ctx: Ctx): Promise<Paged<Association[]>> =>
  ctx.settings.memberships === 'people' ? pageOfPeople(ctx) : pageOfGroups(ctx)

/** All groups that one person is in. */
export async function getAccountAssociations(
  request: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  const person = await readPerson(ctx, request.account_id)
  const direct = await groupsWith(ctx, memberFilter(ctx, person))
  ctx.raw(direct)
  const ids = direct.map(({ dn }) => idOf(dn))
  const all = isEffective(ctx) ? await withOuter(ctx, ids) : ids
  return [...new Set(all)].map((group) => association(idOf(person.dn), group))
}

/** Whether a person is in a group through other groups, beside what the group itself says. */
export async function isInThroughGroups(ctx: Ctx, person: LdapEntry, id: string): Promise<boolean> {
  const direct = await groupsWith(ctx, memberFilter(ctx, person))
  return (
    await withOuter(
      ctx,
      direct.map(({ dn }) => idOf(dn)),
    )
  ).includes(id)
}

export const isEffective = (ctx: Ctx): boolean => ctx.settings.associations === 'effective'

/** The groups that name a person as a member. */
export function memberFilter(ctx: Ctx, person: LdapEntry): LdapFilter {
  const name = firstOf(person, ctx.settings.login_attribute)
  const byName: LdapFilter[] = name === undefined ? [] : [{ eq: ['memberUid', name] }]
  return { or: [...byDn(person.dn), ...byName] }
}

/** The groups that a filter finds. */
export const groupsWith = (ctx: Ctx, filter: LdapFilter): Promise<LdapEntry[]> =>
  findAll(ctx, {
    base: ctx.settings.groups_dn,
    filter: { and: [groupFilter, filter] },
    attributes: ['objectClass', 'cn'],
  })

const byDn = (dn: string): LdapFilter[] =>
  MEMBER_ATTRIBUTES.filter((name) => name !== 'memberUid').map((name) => ({ eq: [name, dn] }))

const association = (account_id: string, group: string): Association => ({
  account_id,
  integration_specific_entitlement_id: group,
  integration_specific_resource_id: '',
})

/**
 * How many times the size of a page one group may fill. A directory gives a group only whole, so each page that begins
 * within one reads all of it: larger pages read it less often. 8,000 associations stay within what a sync takes at once.
 */
const PAGES_AT_ONCE = 8
const PAGE_SIZE = 1000
/** Groups of one page of the directory: what is left of them stands in the cursor, so that it is read once. */
const GROUPS_AT_ONCE = 40
/** Characters of ids that one group may fill a page with: long DNs make pages shorter. */
const MAX_PAGE_CHARS = 1024 * 1024

/**
 * Group after group, each with its members in the order of their ids. The size counts until it is reached: the group
 * that reaches it goes on to PAGES_AT_ONCE times as many.
 */
async function pageOfGroups(ctx: Ctx): Promise<Paged<Association[]>> {
  const groups: Listing<string> = async ({ cursor: from }) => {
    const { response, cursor } = await findPage(
      ctx,
      { cursor: from, size: GROUPS_AT_ONCE },
      {
        base: ctx.settings.groups_dn,
        filter: groupFilter,
        attributes: ['objectClass'],
      },
    )
    return paged(
      response.map(({ dn }) => idOf(dn)),
      cursor,
    )
  }
  const most = (ctx.page.size ?? PAGE_SIZE) * PAGES_AT_ONCE
  const membersOfGroup =
    (group: string): Listing<Association> =>
    async ({ cursor }) => {
      const people = await peopleIn(ctx, group, new Set([group]))
      const all = [...people].map((person) => association(person, group))
      return keyPage({ cursor }, all, ({ account_id }) => account_id, fitting(all, most))
    }
  const members = nested(groups, membersOfGroup, { carries: true })
  const page = await members(ctx.page)
  return '__paged' in page ? paged([...page.response], page.cursor) : paged([...page])
}

/** How many of these fit into a page: by the longest of them, so that it holds for any order. */
function fitting(all: readonly Association[], most: number): number {
  const longest = all.reduce(
    (chars, one) =>
      Math.max(chars, one.account_id.length + one.integration_specific_entitlement_id.length),
    1,
  )
  return Math.max(1, Math.min(most, Math.floor(MAX_PAGE_CHARS / longest)))
}

/** The ids of the people in a group; of an effective one also of those in groups in it. */
async function peopleIn(ctx: Ctx, group: string, seen: Set<string>): Promise<Set<string>> {
  const people = new Set<string>()
  // Deleted since it was listed: nobody is in it.
  const entry = await ifThere(readGroup(ctx, group, MEMBER_ATTRIBUTES))
  if (entry === null) return people
  const { ids, names } = membersOf(ctx, entry)
  const [groupsAt, peopleAt] = [placeOf(ctx, 'groups_dn'), placeOf(ctx, 'people_dn')]
  for (const id of ids) {
    const isGroup = isBelow(id, groupsAt) && (await ifThere(readGroup(ctx, id))) !== null
    if (!isGroup) {
      if (isBelow(id, peopleAt)) people.add(id)
    } else if (isEffective(ctx) && !seen.has(id)) {
      seen.add(id)
      for (const one of await peopleIn(ctx, id, seen)) people.add(one)
    }
  }
  for (const one of await peopleNamed(ctx, names)) people.add(one)
  return people
}

/** The ids of people by their user names; names that nobody has are left out. */
async function peopleNamed(ctx: Ctx, names: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE)
    const filter: LdapFilter = {
      and: [
        peopleFilter(ctx),
        { or: some.map((name) => ({ eq: [ctx.settings.login_attribute, name] })) },
      ],
    }
    const found = await findAll(ctx, {
      base: ctx.settings.people_dn,
      filter,
      attributes: ['objectClass'],
    })
    ids.push(...found.map(({ dn }) => idOf(dn)))
  }
  return ids
}

/** A page of people, each with the groups that memberOf names: as many memberships as those have. */
async function pageOfPeople(ctx: Ctx): Promise<Paged<Association[]>> {
  const { response, cursor } = await findPage(ctx, ctx, {
    base: ctx.settings.people_dn,
    filter: peopleFilter(ctx),
    attributes: ['memberOf'],
  })
  const outer = isEffective(ctx) ? await outerGroups(ctx) : null
  const memberships = response.flatMap((entry) => {
    const direct = groupsOf(ctx, entry)
    const all = outer === null ? new Set(direct) : closure(direct, outer)
    return [...all].map((group) => association(idOf(entry.dn), group))
  })
  return paged(memberships, cursor)
}

/** The groups that memberOf names, as far as they lie where groups are. */
function groupsOf(ctx: Ctx, entry: LdapEntry): string[] {
  const place = placeOf(ctx, 'groups_dn')
  return valuesOf(entry, 'memberOf')
    .map(idOf)
    .filter((id) => isBelow(id, place))
}

/** Which groups each group is in, by memberOf. */
async function outerGroups(ctx: Ctx): Promise<Map<string, string[]>> {
  const groups = await findAll(ctx, {
    base: ctx.settings.groups_dn,
    filter: { and: [groupFilter, { present: 'memberOf' }] },
    attributes: ['memberOf'],
  })
  return new Map(groups.map((entry) => [idOf(entry.dn), groupsOf(ctx, entry)]))
}

function closure(
  from: readonly string[],
  outer: ReadonlyMap<string, readonly string[]>,
): Set<string> {
  const all = new Set(from)
  // What is added while it is gone through is gone through as well.
  for (const one of all) for (const group of outer.get(one) ?? []) all.add(group)
  return all
}

/** These groups and all that they are in, level by level. */
async function withOuter(ctx: Ctx, from: readonly string[]): Promise<string[]> {
  const all = new Set(from)
  let level = [...all]
  while (level.length > 0) {
    const next: string[] = []
    for (let at = 0; at < level.length; at += AT_ONCE) {
      const filter: LdapFilter = { or: level.slice(at, at + AT_ONCE).flatMap(byDn) }
      for (const { dn } of await groupsWith(ctx, filter)) {
        const id = idOf(dn)
        if (!all.has(id)) next.push(id)
        all.add(id)
      }
    }
    level = next
  }
  return [...all]
}
