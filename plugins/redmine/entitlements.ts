/** Entitlements: administration, groups, and every role in every project. */
import {
  ConnectorError,
  chain,
  keyPage,
  type Listing,
  mapped,
  nested,
  type Output,
  type Paged,
} from 'keyway/sdk'
import { isNumber, type Named } from './accounts.ts'
import { type Ctx, pagesOf, readList } from './service.ts'

export const ADMINISTRATOR = 'ADMINISTRATOR'
export const GROUP = 'GROUP'
export const PROJECT_ROLE = 'PROJECT_ROLE'

/** Resource id of groups and of administration, and the id of administration. */
export const WHOLE = ''
export const ADMIN_ID = 'administrator'

type Entitlement = Output<'list_entitlements'>[number]
type Resource = Output<'list_resources'>[number]
type Project = Named & { identifier: string; description?: string | null; status?: number }

/** Entitlement, decoded from a request. */
export type Grant =
  | { type: typeof ADMINISTRATOR }
  | { type: typeof GROUP; group: string }
  | { type: typeof PROJECT_ROLE; project: string; role: number }

/**
 * Decodes the type, id and resource of a requested entitlement.
 *
 * @throws `bad_request` if no such entitlement can exist
 */
export function grantOf(type: string, id: string, resource: string): Grant {
  if (type === ADMINISTRATOR) {
    if (id !== ADMIN_ID || resource !== WHOLE) throw wrong(`its id is ${ADMIN_ID}, of no project`)
    return { type }
  }
  if (type !== GROUP && type !== PROJECT_ROLE)
    throw wrong(`the types are ${ADMINISTRATOR}, ${GROUP} and ${PROJECT_ROLE}, not ${type}`)
  if (!isNumber(id)) throw wrong(`groups and roles have numbers, not ${JSON.stringify(id)}`)
  if (type === GROUP) {
    if (resource !== WHOLE) throw wrong(`a group belongs to no project, such as ${resource}`)
    return { type, group: id }
  }
  if (!isNumber(resource)) throw wrong('a role is held in a project; give the number of one')
  return { type, project: resource, role: Number(id) }
}

const wrong = (why: string) => new ConnectorError('bad_request', `No such entitlement: ${why}`)

/** Lists the projects that are not archived. Without the empty filter, Redmine leaves out closed ones. */
export const projectsOf = (ctx: Ctx): Listing<Project> =>
  pagesOf<Project>(ctx, '/projects.json', 'projects', { set_filter: 1, 'f[]': '' })

export const readGroups = (ctx: Ctx): Promise<Named[]> => readList<Named>(ctx, 'groups')

/** Returns one page of projects. */
export const listResources = (ctx: Ctx): Promise<Paged<Resource[]>> =>
  chain<Resource>(ctx, {
    projects: mapped(projectsOf(ctx), (project) => [
      {
        integration_specific_id: String(project.id),
        label: project.name,
        resource_type: 'PROJECT',
        description: project.description || null,
        extra_data: { identifier: project.identifier, closed: project.status === 5 },
      },
    ]),
  })

/** Returns one page of entitlements: administration, groups, then every role in every project. */
export function listEntitlements(ctx: Ctx): Promise<Paged<Entitlement[]>> {
  let roles: Promise<Named[]> | undefined
  return chain<Entitlement>(ctx, {
    administrator: () => [
      {
        entitlement_type: ADMINISTRATOR,
        integration_specific_id: ADMIN_ID,
        integration_specific_resource_id: WHOLE,
        label: 'Administrator',
        description: 'Everything in this Redmine, in every project',
      },
    ],
    groups: async (at) =>
      keyPage(
        at,
        (await readGroups(ctx)).map(({ id, name }) => ({
          entitlement_type: GROUP,
          integration_specific_id: String(id),
          integration_specific_resource_id: WHOLE,
          label: name,
        })),
        (one) => one.integration_specific_id,
      ),
    roles: nested(projectsOf(ctx), (project) => async (at) => {
      roles ??= readList<Named>(ctx, 'roles')
      const all = (await roles).map(({ id, name }) => ({
        entitlement_type: PROJECT_ROLE,
        integration_specific_id: String(id),
        integration_specific_resource_id: String(project.id),
        label: `${name} in ${project.name}`,
      }))
      return keyPage(at, all, (one) => one.integration_specific_id)
    }),
  })
}
