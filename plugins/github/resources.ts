/** Resources of entitlements: teams and repositories. */
import {
  ConnectorError,
  chain,
  type Listing,
  mapped,
  type Output,
  type Paged,
  path,
} from 'keyway/sdk'
import { type Ctx, listing, organization } from './service.ts'

type Resource = Output<'list_resources'>[number]

/** Team, identified by its slug. */
export type Team = {
  slug: string
  name: string
  description?: string | null
  privacy?: string
  parent?: { slug: string } | null
}

/** Repository, identified by its full name. Team slugs contain no `/`. */
export type Repository = {
  full_name: string
  name: string
  description?: string | null
  visibility?: string
  archived?: boolean
}

export const TEAM = 'TEAM'
export const REPOSITORY = 'REPOSITORY'

/** Lists all teams that the token's owner may see. An owner of the organisation sees every team. */
export const teams = (ctx: Ctx): Listing<Team> => listing<Team>(ctx, `${organization(ctx)}/teams`)

/** Lists all repositories of the organisation. */
export const repositories = (ctx: Ctx): Listing<Repository> =>
  listing<Repository>(ctx, `${organization(ctx)}/repos`, { type: 'all' })

/** Returns the API path of a team. */
export const teamAddress = (ctx: Ctx, slug: string): string =>
  organization(ctx) + path`/teams/${slug}`

/**
 * Returns the API path of a repository, given its full name.
 *
 * @throws `bad_request` if the repository has another owner
 */
export function repositoryAddress(ctx: Ctx, fullName: string): string {
  const { organization: owner } = ctx.settings
  const [given = '', name, ...more] = fullName.split('/')
  if (name === undefined || more.length > 0 || given.toLowerCase() !== owner.toLowerCase())
    throw new ConnectorError('bad_request', `A repository here is called ${owner}/something`)
  return path`/repos/${owner}/${name}`
}

/** Returns one page of teams, followed by repositories. */
export const listResources = (ctx: Ctx): Promise<Paged<Resource[]>> =>
  chain<Resource>(ctx, {
    teams: mapped(teams(ctx), (team) => [
      {
        integration_specific_id: team.slug,
        label: team.name,
        resource_type: TEAM,
        description: team.description || null,
        extra_data: { privacy: team.privacy ?? null, parent: team.parent?.slug ?? null },
      },
    ]),
    repositories: mapped(repositories(ctx), (repository) => [
      {
        integration_specific_id: repository.full_name,
        label: repository.name,
        resource_type: REPOSITORY,
        description: repository.description || null,
        extra_data: {
          visibility: repository.visibility ?? null,
          archived: repository.archived ?? false,
        },
      },
    ]),
  })
