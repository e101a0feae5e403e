/** Group memberships, read from the groups or from memberOf, direct or through nested groups. */
import {
  type Input,
  ifThere,
  isBelow,
  keyPage,
  keysCursor,
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
import { groupFilter, MEMBER_ATTRIBUTES, membersOf, namedBy, readGroup } from './groups.ts'

type Association = Output<'find_entitlement_associations'>[number]

/** Maximum number of groups, or user names, in one filter. */
const AT_ONCE = 100

/** Returns one page of memberships. */
export const findAssociations = (ctx: Ctx): Promise<Paged<Association[]>> =>
  ctx.settings.memberships === 'people' ? pageOfPeople(ctx) : pageOfGroups(ctx)

/** Returns all groups of one person. */
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

/** Reports whether a person is in a group, directly or through other groups. */
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

/** Returns a filter for the groups that list a person as a member. */
export function memberFilter(ctx: Ctx, person: LdapEntry): LdapFilter {
  const byName = valuesOf(person, ctx.settings.login_attribute).map(
    (name): LdapFilter => ({ eq: ['memberUid', name] }),
  )
  return { or: [...byDn(person.dn), ...byName] }
}

/** Returns the groups that match a filter. */
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
 * Factor by which a page may exceed the requested size. Memberships are small, and a request to the directory
 * costs the same for few and for many. 8,000 associations are within what a sync accepts at once.
 */
const TIMES_SIZE = 8
const PAGE_SIZE = 1000
/** Number of groups that are read at once with their members: first request and maximum. */
const FIRST_GROUPS = 8
const MAX_GROUPS = 40
/**
 * Fraction of a page that the next groups should fill, estimated from the previous ones. It is below 1
 * because the next groups may be larger.
 */
const PART_TO_FILL = 0.9
/**
 * Maximum number of id characters per page, not counting one association of each of its groups. Long DNs make
 * pages shorter.
 */
const MAX_PAGE_CHARS = 1024 * 1024

/**
 * Groups of one call: those read with their members, by id, and the ids of all groups, which are read on
 * demand.
 */
type Held = { groups: Map<string, LdapEntry>; ids: () => Promise<ReadonlySet<string>> }

function groupsOfCall(ctx: Ctx): Held {
  let ids: Promise<ReadonlySet<string>> | null = null
  const read = async () => {
    const { groups_dn: base } = ctx.settings
    const all = await findAll(ctx, { base, filter: groupFilter, attributes: ['objectClass'] })
    return new Set(all.map(({ dn }) => idOf(dn)))
  }
  return {
    groups: new Map(),
    ids: () => {
      ids ??= read()
      return ids
    },
  }
}

/**
 * Returns one page with the members of several groups. A group that exceeds the rest of the page continues on
 * the next one, in the order of ids. A directory returns only whole groups, so each page that starts inside a
 * group reads all of it.
 */
async function pageOfGroups(ctx: Ctx): Promise<Paged<Association[]>> {
  const most = (ctx.page.size ?? PAGE_SIZE) * TIMES_SIZE
  const held = groupsOfCall(ctx)
  let chars = 0
  const membersOfGroup =
    (group: string): Listing<Association> =>
    async ({ cursor, size }) => {
      const people = await peopleIn(ctx, group, held, new Set([group]))
      const all = people.map((person) => association(person, group))
      const longest = all.reduce((most, one) => Math.max(most, charsOf(one)), 1)
      const room = Math.max(1, Math.floor((MAX_PAGE_CHARS - chars) / longest))
      const fitting = Math.min(size ?? most, room)
      const isWhole = cursor === null && all.length <= fitting
      const page = isWhole
        ? paged(all)
        : keyPage({ cursor }, all, ({ account_id }) => account_id, fitting)
      chars += page.response.length * longest
      return page
    }
  const members = nested(groupsInto(ctx, held, most), membersOfGroup, { carries: true })
  const page = await members({ cursor: ctx.page.cursor, size: most })
  return '__paged' in page ? paged([...page.response], page.cursor) : paged([...page])
}

const charsOf = (one: Association): number =>
  one.account_id.length + one.integration_specific_entitlement_id.length

/**
 * Lists the ids of groups, and keeps the groups with their members in `held`, unless the members exceed what
 * can be read at once. The number of groups is chosen so that they fill about `most` associations.
 */
const groupsInto =
  (ctx: Ctx, held: Held, most: number): Listing<string> =>
  async ({ cursor }) => {
    const [at, size, ahead] =
      cursor === null
        ? [null, FIRST_GROUPS, FIRST_GROUPS]
        : keysCursor({ cursor }, ['', FIRST_GROUPS, FIRST_GROUPS])
    const read = (attributes: string[], ahead: number | null) =>
      findPage(
        ctx,
        { cursor: at, size },
        { base: ctx.settings.groups_dn, filter: groupFilter, attributes, ahead },
      )
    const withMembers = read(['objectClass', ...MEMBER_ATTRIBUTES], ahead)
    const whole = await ifThere(withMembers, 'invalid_response')
    const { response: groups, cursor: next } = whole ?? (await read(['objectClass'], null))
    let count = 0
    if (whole !== null)
      for (const group of groups) {
        held.groups.set(idOf(group.dn), group)
        count += namedBy(group).length
      }
    const fitting = Math.floor((PART_TO_FILL * most * groups.length) / Math.max(1, count))
    const following = Math.max(1, whole === null ? 1 : Math.min(fitting, 2 * size, MAX_GROUPS))
    // The size of a page that was requested ahead is fixed. The first page requests none ahead.
    const then = at === null || whole === null ? following : ahead
    return paged(
      groups.map(({ dn }) => idOf(dn)),
      typeof next === 'string' ? [next, then, following] : null,
    )
  }

/**
 * Returns the ids of the people in a group. With effective associations, this includes the members of nested
 * groups.
 */
async function peopleIn(ctx: Ctx, group: string, held: Held, seen: Set<string>): Promise<string[]> {
  // A group that was deleted after it was listed has no members.
  const entry = held.groups.get(group) ?? (await ifThere(readGroup(ctx, group, MEMBER_ATTRIBUTES)))
  if (entry === null) return []
  const { ids, names } = membersOf(ctx, entry)
  const [groupsAt, peopleAt] = [placeOf(ctx, 'groups_dn'), placeOf(ctx, 'people_dn')]
  const inPlace = ids.filter((id) => isBelow(id, peopleAt))
  const among = ids.filter((id) => isBelow(id, groupsAt))
  // If the places overlap, a member there may be a person or a group. Compare with the list of all groups:
  // reading each member would take one request per member.
  const known = among.some((id) => isBelow(id, peopleAt)) ? await held.ids() : null
  const groups = new Set(among.filter((id) => known === null || known.has(id)))
  // Set lookups dominate the time of this function, and most directories keep groups in a separate place.
  const people = groups.size === 0 ? inPlace : inPlace.filter((id) => !groups.has(id))
  // A directory lists no member twice in one attribute.
  if (groups.size === 0 && names.length === 0) return people
  const all = new Set(people)
  for (const id of groups) {
    if (!isEffective(ctx) || seen.has(id)) continue
    seen.add(id)
    for (const one of await peopleIn(ctx, id, held, seen)) all.add(one)
  }
  for (const one of await peopleNamed(ctx, names)) all.add(one)
  return [...all]
}

/**
 * Returns the ids of people by user name. The names are case-sensitive (RFC 2307, memberUid). Unknown names
 * are left out.
 */
async function peopleNamed(ctx: Ctx, names: readonly string[]): Promise<string[]> {
  const { login_attribute } = ctx.settings
  const wanted = new Set(names)
  const ids: string[] = []
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE)
    const filter: LdapFilter = {
      and: [peopleFilter(ctx), { or: some.map((name) => ({ eq: [login_attribute, name] })) }],
    }
    const found = await findAll(ctx, {
      base: ctx.settings.people_dn,
      filter,
      attributes: [login_attribute],
    })
    // The directory compares user names without case.
    const exact = found.filter((one) => valuesOf(one, login_attribute).some((v) => wanted.has(v)))
    ids.push(...exact.map(({ dn }) => idOf(dn)))
  }
  return ids
}

/**
 * Returns one page of people with the groups in their memberOf. The page has as many memberships as these
 * people have.
 */
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

/** Returns the groups in memberOf that lie below `groups_dn`. */
function groupsOf(ctx: Ctx, entry: LdapEntry): string[] {
  const place = placeOf(ctx, 'groups_dn')
  return valuesOf(entry, 'memberOf')
    .map(idOf)
    .filter((id) => isBelow(id, place))
}

/** Returns the groups that each group is in, according to memberOf. */
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
  // Items added to a set during iteration are visited, too.
  for (const one of all) for (const group of outer.get(one) ?? []) all.add(group)
  return all
}

/** Returns these groups and all groups that contain them, level by level. */
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
