/** Lists groups and reads single ones. */
import { firstOf, type LdapEntry, type Output, type Paged, paged } from 'keyway/sdk'
import { type Ctx, findPage, idOf, readEntry, sidOf } from './directory.ts'

/** Bit of `groupType` for security groups (MS-ADTS section 2.2.12). */
const SECURITY_GROUP = 0x80000000

/** Returns one page of groups. */
export async function listEntitlements(ctx: Ctx): Promise<Paged<Output<'list_entitlements'>>> {
  const { response, cursor } = await findPage(ctx, ctx, 'group', [
    ...['cn', 'description', 'groupType'],
  ])
  ctx.raw(response)
  const groups = response.map((entry) => ({
    entitlement_type: 'GROUP',
    integration_specific_id: idOf(entry),
    integration_specific_resource_id: '',
    label: firstOf(entry, 'cn') ?? entry.dn,
    is_assignable: true,
    description: firstOf(entry, 'description') ?? null,
    extra_data: {
      dn: entry.dn,
      sid: sidOf(entry),
      kind: isForSecurity(entry) ? 'security' : 'distribution',
    },
  }))
  return paged(groups, cursor)
}

const isForSecurity = (entry: LdapEntry): boolean =>
  (Number(firstOf(entry, 'groupType') ?? 0) & SECURITY_GROUP) !== 0

/**
 * Returns the entry of a group.
 *
 * @throws `not_found` if the id is unknown or is not that of a group
 */
export const readGroup = (ctx: Ctx, id: string): Promise<LdapEntry> => readEntry(ctx, 'group', id)

/**
 * Returns the last part of a domain group's SID, by which accounts name their primary group. Returns null for
 * other groups.
 */
export const ridOf = (group: LdapEntry): string | null =>
  /^S-1-5-21-.*-(\d+)$/.exec(sidOf(group))?.[1] ?? null
