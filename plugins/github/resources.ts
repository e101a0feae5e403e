/** Teams and repositories: what entitlements belong to. */
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

/** A team, known by its slug. */
export type Team = {
  slug: string
  name: string
  description?: string | null
  privacy?: string
  parent?: { slug: string } | null
}

/** A repository, known by its full name: no slug of a team has a `/`. */
export type Repository = {
  full_name: string
  name: string
  description?: string | null
  visibility?: string
  archived?: boolean
}

export const TEAM = 'TEAM'
export const REPOSITORY = 'REPOSITORY'

/** All teams that the token's owner may see: to an owner of the organisation, all. */
export const teams = (ctx: Ctx): Listing<Team> => listing<Team>(ctx, `${organization(ctx)}/teams`)

/** All repositories of the organisation. */
export const repositories = (ctx: Ctx): Listing<Repository> =>
  listing<Repository>(ctx, `${organization(ctx)}/repos`, { type: 'all' })

/** The address of a team. */
export const teamAddress = (ctx: Ctx, slug: string): string =>
  organization(ctx) + path`/teams/${slug}`

/**
 * The address of a repository, from its full name.
 *
 * @throws bad_request for a repository of another person.
 */
export function repositoryAddress(ctx: Ctx, fullName: string): string {
  const { organization: owner } = ctx.settings
  const [given = '', name, ...more] = fullName.split('/')
  if (name === undefined || more.length > 0 || given.toLowerCase() !== owner.toLowerCase())
    throw new ConnectorError('bad_request', `A repository here is called ${owner}/something`)
  return path`/repos/${owner}/${name}`
}

/** One page of teams, then of repositories. */
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
