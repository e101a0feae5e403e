/** Groups, which are the entitlements: lists, reads, grants and revokes them. */
import {
  allItems,
  ConnectorError,
  hasCode,
  type Input,
  mapped,
  type Output,
  type Page,
  path,
} from 'keyway/sdk'
import { readUser } from './accounts.ts'
import { type Ctx, listing, patch, quote, service } from './service.ts'
import { customAttributes, idOf, type User } from './users.ts'

export const GROUP = 'GROUP'

/**
 * Number of groups per page, without and with members. A page of few groups with members may hold thousands
 * of them.
 */
const GROUPS_PER_PAGE = 100
const MEMBERSHIPS_PER_PAGE = 20

type Member = { value?: string; type?: string; $ref?: string }
type Group = { id: string; displayName?: string; externalId?: string; members?: Member[] }
type Association = Output<'find_entitlement_associations'>[number]

/** Returns one page of groups, without their members. */
export async function listEntitlements(
  request: Input<'list_entitlements'>,
  ctx: Ctx,
): Promise<Page<Output<'list_entitlements'>[number]>> {
  const groups = listing<Group>(ctx, '/Groups', {
    size: GROUPS_PER_PAGE,
    query: { excludedAttributes: 'members' },
  })
  const names = request.custom_attributes ?? []
  const entitlements = mapped(groups, (group) => [
    {
      entitlement_type: GROUP,
      integration_specific_id: idOf(group),
      integration_specific_resource_id: '',
      label: group.displayName ?? String(group.id),
      is_assignable: true,
      custom_attributes: names.length === 0 ? null : customAttributes(group, names),
    },
  ])
  return entitlements(ctx.page)
}

/** Returns the memberships of one page of groups. Their number varies: empty groups have none. */
export async function findAssociations(ctx: Ctx): Promise<Page<Association>> {
  const most = MEMBERSHIPS_PER_PAGE
  const groups = listing<Group>(ctx, '/Groups', { size: most, most })
  const memberships = mapped(groups, (group) =>
    usersIn(group).map((id) => association(id, idOf(group))),
  )
  return memberships(ctx.page)
}

/**
 * Returns the groups that one user is a direct member of. Groups are queried first, with a filter, because a
 * user's own `groups` is optional. Some services ignore the filter, so the result is checked. Others refuse
 * it, and then the user's own list is used.
 *
 * @throws `not_found` if the user is unknown; an empty list would hide the mistake
 */
export async function getAccountAssociations(
  request: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  const id = request.account_id
  const own = directGroups(await readUser(ctx, id))
  const groups = await groupsWith(ctx, id)
  const held =
    groups === null
      ? own
      : groups
          .filter((group) =>
            group.members === undefined ? own.includes(idOf(group)) : holds(group, id),
          )
          .map(idOf)
  return [...new Set(held)].map((group) => association(id, group))
}

/** Returns the groups that may have this member, or null if the service refuses the filter. */
async function groupsWith(ctx: Ctx, id: string): Promise<Group[] | null> {
  const query = { filter: `members.value eq ${quote(id)}` }
  try {
    return await allItems(listing<Group>(ctx, '/Groups', { size: GROUPS_PER_PAGE, query }))
  } catch (error) {
    if (hasCode(error, 'bad_request', 'unsupported_operation')) return null
    throw error
  }
}

/** Adds a member. Services list a member twice if it is added twice, so the group is read first. */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  const { account, group } = grantOf(request)
  if (!holds(await service(ctx).get<Group>(path`/Groups/${group}`), account)) {
    // Services accept any id as a member, so an unknown user must be detected here.
    await readUser(ctx, account)
    const value = [{ value: account }]
    const changed = await patch<Group>(ctx, path`/Groups/${group}`, [
      { op: 'add', path: 'members', value },
    ])
    // The reply may omit the members.
    if (changed?.members?.length && !holds(changed, account)) throw unchanged('is no member')
  }
  return { assigned: true }
}

/** Removes a member. Removing a user who is not a member is not an error. */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const { account, group } = grantOf(request)
  try {
    const changed = await patch<Group>(ctx, path`/Groups/${group}`, [
      { op: 'remove', path: `members[value eq ${quote(account)}]` },
    ])
    if (changed && holds(changed, account)) throw unchanged('is still a member')
  } catch (error) {
    if (!hasCode(error, 'bad_request') || error.app_error_code !== 'noTarget') throw error
  }
  return { unassigned: true }
}

const unchanged = (what: string) =>
  new ConnectorError(
    'api_error',
    `The service took the change, and says that the user ${what} of the group: it may not let SCIM change this one`,
  )

function grantOf(request: Input<'assign_entitlement'>): { account: string; group: string } {
  if (request.entitlement_type !== GROUP || request.resource_integration_specific_id !== '') {
    throw new ConnectorError(
      'bad_request',
      `The only entitlements are of type ${GROUP} in the global resource, whose id is empty`,
    )
  }
  return {
    account: request.account_integration_specific_id,
    group: request.entitlement_integration_specific_id,
  }
}

const association = (account: string, group: string): Association => ({
  account_id: account,
  integration_specific_entitlement_id: group,
  integration_specific_resource_id: '',
})

/** Returns the users in a group, without nested groups and duplicates. */
function usersIn(group: Group): string[] {
  const users = (group.members ?? []).filter((member) => !isGroup(member))
  return [
    ...new Set(users.flatMap(({ value }) => ((value ?? '') === '' ? [] : idOf({ id: value })))),
  ]
}

const holds = (group: Group, id: string): boolean => usersIn(group).includes(id)

const isGroup = (member: Member): boolean =>
  typeof member.type !== 'string'
    ? /\/Groups\/[^/]+$/i.test(member.$ref ?? '')
    : member.type.toLowerCase() === 'group'

/** Returns a user's own groups, without those inherited through other groups. */
const directGroups = (user: User): string[] =>
  (user.groups ?? [])
    .filter((group) => group.type?.toLowerCase() !== 'indirect')
    // Some services have numeric ids.
    .flatMap(({ value }) => (value === undefined ? [] : idOf({ id: value })))
