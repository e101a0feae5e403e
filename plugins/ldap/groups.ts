/** Groups: which kinds there are, and who is in them. */
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

/** Object classes of groups, with the attribute of their members, and whether that has DNs or user names. */
const KINDS = [
  { objectClass: 'groupOfNames', attribute: 'member', holds: 'dn' },
  { objectClass: 'groupOfMembers', attribute: 'member', holds: 'dn' },
  { objectClass: 'groupOfUniqueNames', attribute: 'uniqueMember', holds: 'dn' },
  { objectClass: 'posixGroup', attribute: 'memberUid', holds: 'name' },
] as const
export type Kind = (typeof KINDS)[number]

/** Attributes that a kind is told by. */
export const GROUP_ATTRIBUTES = ['objectClass', 'cn']
/** Attributes that hold members. */
export const MEMBER_ATTRIBUTES: string[] = [...new Set(KINDS.map(({ attribute }) => attribute))]

/** All entries that are groups. */
export const groupFilter: LdapFilter = {
  or: KINDS.map(({ objectClass }) => ({ eq: ['objectClass', objectClass] })),
}

/**
 * The kinds of a group, with one for each attribute: some have DNs and user names side by side (groupOfNames and posixGroup
 * of rfc2307bis). People are put into one of several kinds by the first.
 */
export function kindsOf(entry: LdapEntry): [Kind, ...Kind[]] {
  const classes = valuesOf(entry, 'objectClass').map((name) => name.toLowerCase())
  const all = KINDS.filter(({ objectClass }) => classes.includes(objectClass.toLowerCase()))
  const [first = KINDS[0], ...others] = new Map(
    all.map((kind): [string, Kind] => [kind.attribute, kind]),
  ).values()
  return [first, ...others]
}

/** One page of groups. */
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
 * The entry of a group.
 *
 * @throws not_found for an unknown id, and for one of something else
 */
export const readGroup = (ctx: Ctx, id: string, attributes: string[] = []): Promise<LdapEntry> =>
  readEntry(ctx, id, {
    place: 'groups_dn',
    filter: groupFilter,
    attributes: [...GROUP_ATTRIBUTES, ...attributes],
  })

/** What a group names, as it is there: DNs, and user names. */
export const namedBy = (entry: LdapEntry): string[] =>
  kindsOf(entry).flatMap(({ attribute }) => valuesOf(entry, attribute))

/** What a group names as its members: ids of entries, and user names. */
export type Members = { ids: string[]; names: string[] }

/** The members of a group as it names them; without the one that keeps it from being empty. */
export function membersOf(ctx: Ctx, entry: LdapEntry): Members {
  const kinds = kindsOf(entry)
  const held = (by: Kind['holds']): string[] =>
    kinds.flatMap(({ attribute, holds }) => (holds === by ? valuesOf(entry, attribute) : []))
  const filler = ctx.settings.empty_group_member
  const none = filler === undefined ? null : idOf(filler)
  const all = held('dn').map(idOf)
  // One list has nobody twice, and looking a text up takes longer than all else here.
  const ids = kinds.length === 1 ? all : [...new Set(all)]
  return { ids: none === null ? ids : ids.filter((id) => id !== none), names: held('name') }
}
