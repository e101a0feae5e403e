/** Entitlements: memberships, organisation roles, and roles in teams and repositories. */
import {
  ConnectorError,
  chain,
  ifThere,
  type Listing,
  mapped,
  type Output,
  type Paged,
  paged,
} from 'keyway/sdk'
import { repositories, teams } from './resources.ts'
import { type Ctx, organization, service } from './service.ts'

type Entitlement = Output<'list_entitlements'>[number]

export const MEMBERSHIP = 'MEMBERSHIP'
export const ORGANIZATION_ROLE = 'ORGANIZATION_ROLE'
export const TEAM_ROLE = 'TEAM_ROLE'
export const REPOSITORY_ROLE = 'REPOSITORY_ROLE'

/** Resource id of memberships: the organisation itself. */
export const ORGANIZATION = ''

/** Memberships by role, with labels. Every member has exactly one. */
const MEMBERSHIPS = { member: 'Member', admin: 'Owner' } as const
export type MembershipRole = keyof typeof MEMBERSHIPS

const TEAM_ROLES = { member: 'Member', maintainer: 'Maintainer' } as const
export type TeamRole = keyof typeof TEAM_ROLES

/** Repository roles that every organisation has, with their permission names in the API. */
const REPOSITORY_ROLES = {
  read: 'pull',
  triage: 'triage',
  write: 'push',
  maintain: 'maintain',
  admin: 'admin',
} as const

const isKeyOf = <T extends object>(table: T, name: string): name is keyof T & string =>
  Object.hasOwn(table, name)

/**
 * Returns the permission name under which the API grants a role. The organisation's custom roles keep their
 * names.
 */
export const permissionOf = (role: string): string =>
  isKeyOf(REPOSITORY_ROLES, role) ? REPOSITORY_ROLES[role] : role

/**
 * Returns the id as a membership role.
 *
 * @throws `bad_request` if it is not one
 */
export function membershipRole(id: string): MembershipRole {
  if (isKeyOf(MEMBERSHIPS, id)) return id
  throw wrong(`a membership is member or admin, not ${id}`)
}

/**
 * Returns the id as a team role.
 *
 * @throws `bad_request` if it is not one
 */
export function teamRole(id: string): TeamRole {
  if (isKeyOf(TEAM_ROLES, id)) return id
  throw wrong(`a role in a team is member or maintainer, not ${id}`)
}

/** Returns the error for an entitlement that cannot exist. */
export const wrong = (why: string): ConnectorError =>
  new ConnectorError('bad_request', `No such entitlement: ${why}`)

/** Organisation role, predefined by GitHub or custom, identified by its number. */
export type OrganizationRole = { id: number; name: string; description?: string | null }

/** Lists organisation roles in one page. The page is empty if the server does not support them. */
export const organizationRoles =
  (ctx: Ctx): Listing<OrganizationRole> =>
  async () => {
    const address = `${organization(ctx)}/organization-roles`
    const answer = await ifThere(service(ctx).get<{ roles?: OrganizationRole[] }>(address))
    return paged(answer?.roles ?? [])
  }

/** Returns one page of entitlements: memberships, organisation roles, team roles, then repository roles. */
export const listEntitlements = (ctx: Ctx): Promise<Paged<Entitlement[]>> =>
  chain<Entitlement>(ctx, {
    memberships: () =>
      Object.entries(MEMBERSHIPS).map(([id, label]) => ({
        entitlement_type: MEMBERSHIP,
        integration_specific_id: id,
        integration_specific_resource_id: ORGANIZATION,
        label,
      })),
    roles: mapped(organizationRoles(ctx), ({ id, name, description }) => [
      {
        entitlement_type: ORGANIZATION_ROLE,
        integration_specific_id: String(id),
        integration_specific_resource_id: ORGANIZATION,
        label: name,
        description: description || null,
      },
    ]),
    teams: mapped(teams(ctx), (team) =>
      Object.entries(TEAM_ROLES).map(([id, label]) => ({
        entitlement_type: TEAM_ROLE,
        integration_specific_id: id,
        integration_specific_resource_id: team.slug,
        label: `${label} of ${team.name}`,
      })),
    ),
    repositories: mapped(repositories(ctx), (repository) =>
      Object.keys(REPOSITORY_ROLES).map((id) => ({
        entitlement_type: REPOSITORY_ROLE,
        integration_specific_id: id,
        integration_specific_resource_id: repository.full_name,
        label: `${id} in ${repository.name}`,
      })),
    ),
  })
