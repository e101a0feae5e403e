/**
 * Grants and revokes entitlements. Apart from organisation roles, an account holds at most one entitlement of
 * each kind per resource: granting another one replaces it. Revoking an entitlement that is not held changes
 * nothing.
 */
import { allItems, ConnectorError, type Input, ifThere, type Output, path } from 'keyway/sdk'
import { type Person, readMembership, readPerson, sameLogin } from './accounts.ts'
import { collaborators, readTeamMembership, roleOf } from './associations.ts'
import {
  MEMBERSHIP,
  membershipRole,
  ORGANIZATION,
  ORGANIZATION_ROLE,
  organizationRoles,
  permissionOf,
  REPOSITORY_ROLE,
  TEAM_ROLE,
  teamRole,
  wrong,
} from './entitlements.ts'
import { refuseOwnAccount } from './own.ts'
import { REPOSITORY, repositoryAddress, TEAM, teamAddress } from './resources.ts'
import { type Ctx, organization, service } from './service.ts'

type Request = Input<'assign_entitlement'>

/**
 * Functions that grant and revoke one kind of entitlement. The arguments are the account's login, the
 * entitlement's id and the resource's id.
 */
type Kind = {
  resourceType: string
  assign(ctx: Ctx, login: string, id: string, resource: string): Promise<unknown>
  unassign(ctx: Ctx, login: string, id: string, resource: string): Promise<unknown>
}

/** Grants an entitlement. Granting it again changes nothing. */
export async function assignEntitlement(
  request: Request,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  await kindOf(request).assign(ctx, ...argumentsOf(request))
  return { assigned: true }
}

/** Revokes an entitlement. Revoking one that is not held is not an error. */
export async function unassignEntitlement(
  request: Request,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  await kindOf(request).unassign(ctx, ...argumentsOf(request))
  return { unassigned: true }
}

const argumentsOf = (request: Request): [login: string, id: string, resource: string] => [
  request.account_integration_specific_id,
  request.entitlement_integration_specific_id,
  request.resource_integration_specific_id,
]

function kindOf({ entitlement_type: type, resource_integration_specific_id: of }: Request): Kind {
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
  if (!kind) throw wrong(`the types are ${Object.keys(KINDS).join(', ')}, not ${type}`)
  if ((kind.resourceType === ORGANIZATION) !== (of === ORGANIZATION))
    throw wrong(
      kind.resourceType === ORGANIZATION
        ? `a ${type} has no resource but the organisation; leave it empty`
        : `a ${type} belongs to a ${kind.resourceType}; name one`,
    )
  return kind
}

const memberships: Kind = {
  resourceType: ORGANIZATION,
  async assign(ctx, login, id) {
    const role = membershipRole(id)
    const membership = await mustBeMember(ctx, login)
    if (membership.role === role) return
    if (membership.role === 'admin') await refuseOwnAccount(ctx, login, 'stops being an owner')
    await setMembership(ctx, login, role)
  },
  async unassign(ctx, login, id) {
    const role = membershipRole(id)
    const membership = await mustBeMember(ctx, login)
    if (membership.role !== role) return
    if (role === 'admin') {
      await refuseOwnAccount(ctx, login, 'stops being an owner')
      return setMembership(ctx, login, 'member')
    }
    throw new ConnectorError(
      'unsupported_operation',
      'Every member has a membership: delete the account to end it',
    )
  },
}

const setMembership = (ctx: Ctx, login: string, role: 'admin' | 'member') =>
  service(ctx).put(organization(ctx) + path`/memberships/${login}`, { role })

/**
 * Returns the person's membership. Without this check, GitHub would invite a non-member.
 *
 * @throws `not_found` if the person is not a member
 */
async function mustBeMember(ctx: Ctx, login: string) {
  const membership = await readMembership(ctx, login)
  if (membership) return membership
  const { organization: name } = ctx.settings
  throw new ConnectorError('not_found', `${login} is no member of ${name}`, { status_code: 404 })
}

const organizationRoleAddress = (ctx: Ctx, login: string, id: string) =>
  organization(ctx) + path`/organization-roles/users/${login}/${id}`

const roles: Kind = {
  resourceType: ORGANIZATION,
  async assign(ctx, login, id) {
    await mustBeMember(ctx, login)
    await service(ctx).put(organizationRoleAddress(ctx, login, id))
  },
  async unassign(ctx, login, id) {
    await mustBeMember(ctx, login)
    const known = await allItems(organizationRoles(ctx))
    if (!known.some((role) => String(role.id) === id))
      throw new ConnectorError('not_found', `There is no organisation role ${id}`)
    await ifThere(service(ctx).delete(organizationRoleAddress(ctx, login, id)))
  },
}

const teamRoles: Kind = {
  resourceType: TEAM,
  async assign(ctx, login, id, slug) {
    const role = teamRole(id)
    await mustBeMember(ctx, login)
    const held = await readTeamMembership(ctx, slug, login)
    if (held?.role !== role)
      await service(ctx).put(teamAddress(ctx, slug) + path`/memberships/${login}`, { role })
  },
  async unassign(ctx, login, id, slug) {
    const role = teamRole(id)
    const held = await readTeamMembership(ctx, slug, login)
    if (held === null) {
      await service(ctx).get(teamAddress(ctx, slug))
      await readPerson(ctx, login)
    } else if (held.role === role) {
      await service(ctx).delete(teamAddress(ctx, slug) + path`/memberships/${login}`)
    }
  },
}

const repositoryRoles: Kind = {
  resourceType: REPOSITORY,
  async assign(ctx, login, id, fullName) {
    const address = repositoryAddress(ctx, fullName)
    const { held } = await inRepository(ctx, login, fullName)
    if (held !== id)
      await service(ctx).put(address + path`/collaborators/${login}`, {
        permission: permissionOf(id),
      })
  },
  async unassign(ctx, login, id, fullName) {
    const address = repositoryAddress(ctx, fullName)
    const { held } = await inRepository(ctx, login, fullName)
    if (held === id) await service(ctx).delete(address + path`/collaborators/${login}`)
  },
}

/**
 * Returns a person and their direct role in a repository, or null for the role. Refuses unknown people,
 * because GitHub would invite them.
 */
async function inRepository(
  ctx: Ctx,
  login: string,
  full_name: string,
): Promise<Person & { held: string | null }> {
  const person = await readPerson(ctx, login)
  const all = await allItems(collaborators(ctx, { full_name }))
  const found = all.find((one) => sameLogin(one.login, login))
  return { ...person, held: found ? roleOf(found) : null }
}

const KINDS: Record<string, Kind> = {
  [MEMBERSHIP]: memberships,
  [ORGANIZATION_ROLE]: roles,
  [TEAM_ROLE]: teamRoles,
  [REPOSITORY_ROLE]: repositoryRoles,
}
