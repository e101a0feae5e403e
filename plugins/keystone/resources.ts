/** Resources in which roles are held: domains and their projects. */
import { chain, keyPage, type Output, type Paged } from 'keyway/sdk'
import { type Ctx, readList } from './service.ts'

export const DOMAIN = 'DOMAIN'
export const PROJECT = 'PROJECT'

/** Resource id of groups and of roles in the whole cloud. */
export const CLOUD = ''

export type Domain = { id: string; name: string; description?: string; enabled?: boolean }
export type Project = Domain & { domain_id: string; parent_id?: string | null }

type Resource = Output<'list_resources'>[number]

/** Returns all domains, in any order. */
export const readDomains = (ctx: Ctx): Promise<Domain[]> => readList<Domain>(ctx, '/domains')

/** Returns the projects of all domains, in any order. */
export const readProjects = (ctx: Ctx): Promise<Project[]> => readList<Project>(ctx, '/projects')

/** Returns one page of domains, followed by projects. */
export const listResources = (ctx: Ctx): Promise<Paged<Resource[]>> =>
  chain<Resource>(ctx, {
    async domains(at) {
      const all = await readDomains(ctx)
      return keyPage(
        at,
        all.map((domain) => toResource(domain, DOMAIN, {})),
        idOf,
      )
    },
    async projects(at) {
      const all = await readProjects(ctx)
      const byId = new Map(all.map((project) => [project.id, project]))
      const resources = all.map((project) =>
        toResource(project, PROJECT, {
          domain_id: project.domain_id,
          parent_id: project.parent_id ?? project.domain_id,
          path: pathOf(project, byId),
        }),
      )
      return keyPage(at, resources, idOf)
    },
  })

const idOf = (one: Resource): string => one.integration_specific_id

const toResource = (
  { id, name, description, enabled }: Domain,
  resource_type: string,
  extra: Record<string, string>,
): Resource => ({
  integration_specific_id: id,
  label: name,
  resource_type,
  description: description || null,
  extra_data: { ...extra, enabled: String(enabled ?? true) },
})

/**
 * Returns the names of a project and its ancestors: `ops/ops-prod`. The parent of a top-level project is its
 * domain.
 */
function pathOf(project: Project, byId: ReadonlyMap<string, Project>): string {
  const names: string[] = []
  for (let at: Project | undefined = project; at; at = byId.get(at.parent_id ?? '')) {
    // Guard against a server that reports a project as its own ancestor.
    if (names.length > byId.size) break
    names.unshift(at.name)
  }
  return names.join('/')
}
