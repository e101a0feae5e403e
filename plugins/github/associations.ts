/** Direct grants. Access through a team or an enterprise is left out. */
import {
  chain,
  type Input,
  ifThere,
  type Listing,
  mapped,
  nested,
  type Output,
  type Paged,
  path,
} from 'keyway/sdk'
import { type Membership, readPerson, sameLogin, type User } from './accounts.ts'
import { ORGANIZATION, organizationRoles, type TeamRole } from './entitlements.ts'
import {
  type Repository,
  repositories,
  repositoryAddress,
  type Team,
  teamAddress,
  teams,
} from './resources.ts'
import { type Ctx, listing, organization, service } from './service.ts'

type Association = Output<'find_entitlement_associations'>[number]

/** Returns one page of associations: owners, other members, organisation roles, teams, then repositories. */
export const findAssociations = (ctx: Ctx): Promise<Paged<Association[]>> =>
  chain<Association>(ctx, {
    owners: membersOf(ctx, 'admin'),
    members: membersOf(ctx, 'member'),
    roles: inRoles(ctx),
    teams: nested(teams(ctx), (team) =>
      nested(
        () => ['maintainer', 'member'] as const,
        (role) => inTeam(ctx, team, role),
      ),
    ),
    repositories: inRepositories(ctx),
  })

/**
 * Returns one page of an account's associations. GitHub has no such list, so every team and repository is
 * queried.
 */
export async function getAccountAssociations(
  { account_id }: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Paged<Association[]>> {
  const only = (all: Listing<Association>) =>
    mapped(all, (one) => (sameLogin(one.account_id, account_id) ? [one] : []))
  return chain<Association>(ctx, {
    membership: async () => {
      const { user, membership } = await readPerson(ctx, account_id)
      // Pending members hold nothing yet. Billing managers are not members.
      if (membership?.state !== 'active' || membership.role === 'billing_manager') return []
      return [association(user, membership.role, ORGANIZATION)]
    },
    roles: only(inRoles(ctx)),
    teams: nested(teams(ctx), (team) => () => ofTeam(ctx, team, account_id)),
    repositories: only(inRepositories(ctx)),
  })
}

const association = (user: User, entitlement: string, resource: string): Association => ({
  account_id: user.login,
  integration_specific_entitlement_id: entitlement,
  integration_specific_resource_id: resource,
})

const membersOf = (ctx: Ctx, role: 'admin' | 'member'): Listing<Association> =>
  mapped(listing<User>(ctx, `${organization(ctx)}/members`, { role }), (user) => [
    association(user, role, ORGANIZATION),
  ])

type RoleHolder = User & { assignment?: 'direct' | 'indirect' | 'mixed' }

/** Lists direct holders of organisation roles. An `indirect` assignment comes through a team. */
const inRoles = (ctx: Ctx): Listing<Association> =>
  nested(organizationRoles(ctx), ({ id }) =>
    mapped(
      listing<RoleHolder>(ctx, organization(ctx) + path`/organization-roles/${id}/users`),
      (user) =>
        user.assignment === 'indirect' ? [] : [association(user, String(id), ORGANIZATION)],
    ),
  )

const inTeam = (ctx: Ctx, { slug }: Team, role: TeamRole): Listing<Association> =>
  mapped(listing<User>(ctx, `${teamAddress(ctx, slug)}/members`, { role }), (user) => [
    association(user, role, slug),
  ])

async function ofTeam(ctx: Ctx, { slug }: Team, login: string): Promise<Association[]> {
  const held = await readTeamMembership(ctx, slug, login)
  return held?.state === 'active' ? [association({ login, id: 0 }, held.role, slug)] : []
}

/** Returns a person's membership in a team, or null if there is none. */
export const readTeamMembership = (
  ctx: Ctx,
  slug: string,
  login: string,
): Promise<{ state: Membership['state']; role: TeamRole } | null> =>
  ifThere(service(ctx).get(teamAddress(ctx, slug) + path`/memberships/${login}`))

const inRepositories = (ctx: Ctx): Listing<Association> =>
  nested(repositories(ctx), (repository) =>
    mapped(collaborators(ctx, repository), (user) => [
      association(user, roleOf(user), repository.full_name),
    ]),
  )

/** Person with a role in a repository. Older servers return permissions but no role name. */
export type Collaborator = User & {
  role_name?: string
  permissions?: Partial<Record<'pull' | 'triage' | 'push' | 'maintain' | 'admin', boolean>>
}

/** Lists the direct collaborators of a repository, without access through a team or the organisation. */
export const collaborators = (
  ctx: Ctx,
  { full_name }: Pick<Repository, 'full_name'>,
): Listing<Collaborator> =>
  listing<Collaborator>(ctx, `${repositoryAddress(ctx, full_name)}/collaborators`, {
    affiliation: 'direct',
  })

/** Returns the name of a collaborator's role. */
export function roleOf({ role_name, permissions = {} }: Collaborator): string {
  if (role_name) return role_name
  if (permissions.admin) return 'admin'
  if (permissions.maintain) return 'maintain'
  if (permissions.push) return 'write'
  return permissions.triage ? 'triage' : 'read'
}
