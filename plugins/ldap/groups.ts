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

/** The kind of a group; one that is of several is of the first. */
export function kindOf(entry: LdapEntry): Kind {
  const classes = valuesOf(entry, 'objectClass').map((name) => name.toLowerCase())
  return KINDS.find(({ objectClass }) => classes.includes(objectClass.toLowerCase())) ?? KINDS[0]
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

/** What a group names, as it is there: DNs, or user names. */
export const namedBy = (entry: LdapEntry): string[] => valuesOf(entry, kindOf(entry).attribute)

/** What a group names as its members: ids of entries, or user names. */
export type Members = { ids: string[]; names: string[] }

/** The members of a group as it names them; without the one that keeps it from being empty. */
export function membersOf(ctx: Ctx, entry: LdapEntry): Members {
  const values = namedBy(entry)
  if (kindOf(entry).holds === 'name') return { ids: [], names: values }
  const filler = ctx.settings.empty_group_member
  const none = filler === undefined ? null : idOf(filler)
  return { ids: values.map(idOf).filter((id) => id !== none), names: [] }
}
