/** What can be granted: membership, roles in the organisation, in every team and in every repository. */
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

/** The organisation itself: GitHub's resource of memberships. */
export const ORGANIZATION = ''

/** Every member is one of them. */
const MEMBERSHIPS = { member: 'Member', admin: 'Owner' } as const
export type MembershipRole = keyof typeof MEMBERSHIPS

const TEAM_ROLES = { member: 'Member', maintainer: 'Maintainer' } as const
export type TeamRole = keyof typeof TEAM_ROLES

/** Roles in a repository that every organisation has: their name, and what the API calls them. */
const REPOSITORY_ROLES = {
  read: 'pull',
  triage: 'triage',
  write: 'push',
  maintain: 'maintain',
  admin: 'admin',
} as const

const isKeyOf = <T extends object>(table: T, name: string): name is keyof T & string =>
  Object.hasOwn(table, name)

/** What the API calls a role when it is granted; a role of the organisation's own by its name. */
export const permissionOf = (role: string): string =>
  isKeyOf(REPOSITORY_ROLES, role) ? REPOSITORY_ROLES[role] : role

/** @throws bad_request for what is no membership. */
export function membershipRole(id: string): MembershipRole {
  if (isKeyOf(MEMBERSHIPS, id)) return id
  throw wrong(`a membership is member or admin, not ${id}`)
}

/** @throws bad_request for what is no role in a team. */
export function teamRole(id: string): TeamRole {
  if (isKeyOf(TEAM_ROLES, id)) return id
  throw wrong(`a role in a team is member or maintainer, not ${id}`)
}

/** An entitlement that cannot be. */
export const wrong = (why: string): ConnectorError =>
  new ConnectorError('bad_request', `No such entitlement: ${why}`)

/** A role in the organisation, GitHub's own or the organisation's, known by its number. */
export type OrganizationRole = { id: number; name: string; description?: string | null }

/** Organisation roles, in one answer; none where the server does not know them. */
export const organizationRoles =
  (ctx: Ctx): Listing<OrganizationRole> =>
  async () => {
    const address = `${organization(ctx)}/organization-roles`
    const answer = await ifThere(service(ctx).get<{ roles?: OrganizationRole[] }>(address))
    return paged(answer?.roles ?? [])
  }

/** One page of memberships, organisation roles, roles in teams, then of roles in repositories. */
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
