/** Kinds of groups and their members. */
import {
  firstOf,
  type LdapEntry,
  type LdapFilter,
  type Output,
  type Paged,
  paged,
  valuesOf,
} from 'keyway/sdk'
import { type Ctx, findPage, idOf, readEntry } from './directory.ts'

/** Object classes of groups, with their member attribute and whether it holds DNs or user names. */
const KINDS = [
  { objectClass: 'groupOfNames', attribute: 'member', holds: 'dn' },
  { objectClass: 'groupOfMembers', attribute: 'member', holds: 'dn' },
  { objectClass: 'groupOfUniqueNames', attribute: 'uniqueMember', holds: 'dn' },
  { objectClass: 'posixGroup', attribute: 'memberUid', holds: 'name' },
] as const
export type Kind = (typeof KINDS)[number]

/** Attributes that determine the kind of a group. */
export const GROUP_ATTRIBUTES = ['objectClass', 'cn']
/** Attributes that hold members. */
export const MEMBER_ATTRIBUTES: string[] = [...new Set(KINDS.map(({ attribute }) => attribute))]

/** Filter for all groups. */
export const groupFilter: LdapFilter = {
  or: KINDS.map(({ objectClass }) => ({ eq: ['objectClass', objectClass] })),
}

/**
 * Returns the kinds of a group, one per member attribute. Some groups hold both DNs and user names
 * (groupOfNames and posixGroup of rfc2307bis). People are added by the first kind.
 */
export function kindsOf(entry: LdapEntry): [Kind, ...Kind[]] {
  const classes = valuesOf(entry, 'objectClass').map((name) => name.toLowerCase())
  const all = KINDS.filter(({ objectClass }) => classes.includes(objectClass.toLowerCase()))
  const [first = KINDS[0], ...others] = new Map(
    all.map((kind): [string, Kind] => [kind.attribute, kind]),
  ).values()
  return [first, ...others]
}

/** Returns one page of groups. */
export async function listEntitlements(ctx: Ctx): Promise<Paged<Output<'list_entitlements'>>> {
  const { response, cursor } = await findPage(ctx, ctx, {
    base: ctx.settings.groups_dn,
    filter: groupFilter,
    attributes: [...GROUP_ATTRIBUTES, 'description'],
  })
  ctx.raw(response)
  const groups = response.map((entry) => ({
    entitlement_type: 'GROUP',
    integration_specific_id: idOf(entry.dn),
    integration_specific_resource_id: '',
    label: firstOf(entry, 'cn') ?? idOf(entry.dn),
    is_assignable: true,
    description: firstOf(entry, 'description') ?? null,
    extra_data: { dn: entry.dn },
  }))
  return paged(groups, cursor)
}

/**
 * Returns the entry of a group.
 *
 * @throws `not_found` if the id is unknown or is not that of a group
 */
export const readGroup = (ctx: Ctx, id: string, attributes: string[] = []): Promise<LdapEntry> =>
  readEntry(ctx, id, {
    place: 'groups_dn',
    filter: groupFilter,
    attributes: [...GROUP_ATTRIBUTES, ...attributes],
  })

/** Returns the members of a group as listed: DNs and user names. */
export const namedBy = (entry: LdapEntry): string[] =>
  kindsOf(entry).flatMap(({ attribute }) => valuesOf(entry, attribute))

/** Members of a group: ids of entries, and user names. */
export type Members = { ids: string[]; names: string[] }

/** Returns the members of a group, without the filler that keeps it from being empty. */
export function membersOf(ctx: Ctx, entry: LdapEntry): Members {
  const kinds = kindsOf(entry)
  const held = (by: Kind['holds']): string[] =>
    kinds.flatMap(({ attribute, holds }) => (holds === by ? valuesOf(entry, attribute) : []))
  const filler = ctx.settings.empty_group_member
  const none = filler === undefined ? null : idOf(filler)
  const all = held('dn').map(idOf)
  // One attribute has no duplicates, and set lookups dominate the time of a page.
  const ids = kinds.length === 1 ? all : [...new Set(all)]
  return { ids: none === null ? ids : ids.filter((id) => id !== none), names: held('name') }
}
