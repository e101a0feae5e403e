/** What all resources have: location, version, the attributes that are wanted. Pure. */
import { createHash } from 'node:crypto'
import { SCIM_LIMITS, SCIM_URNS } from '../../contract/models/scim.ts'
import { ScimError } from './problem.ts'

/** What a request says beside its body. */
export type ScimRequest = {
  /** Where the service is: `https://keyway.example.com/scim/v2`. */
  base: string
  /** The header If-Match, or null. */
  ifMatch: string | null
}

export type Resource = Record<string, unknown> & { schemas: string[] }
type Times = { created?: Date; lastModified?: Date }

/** The resource with its `meta`; its version is a digest of what it says. */
export function withMeta(
  resource: Resource & { id: string },
  kind: 'User' | 'Group',
  { base }: ScimRequest,
  { created, lastModified }: Times,
): Resource {
  return {
    ...resource,
    meta: {
      resourceType: kind,
      ...(created === undefined ? {} : { created: created.toISOString() }),
      ...(lastModified === undefined ? {} : { lastModified: lastModified.toISOString() }),
      location: `${base}/${kind}s/${resource.id}`,
      version: versionOf(resource),
    },
  }
}

const versionOf = (resource: Resource): string =>
  `W/"${createHash('sha256').update(JSON.stringify(resource)).digest('base64url').slice(0, 22)}"`

/** The version in a resource's `meta`. */
export function etagOf(resource: Resource): string {
  const meta = resource['meta']
  return typeof meta === 'object' && meta !== null && 'version' in meta ? String(meta.version) : ''
}

/** Whether a header of ETags names a version; weak and strong ones are the same here. */
export function namesVersion(header: string, version: string): boolean {
  const bare = (one: string) => one.trim().replace(/^W\//, '')
  return header.split(',').some((one) => one.trim() === '*' || bare(one) === bare(version))
}

/** @throws ScimError precondition_failed where the resource is another than the caller has seen */
export function demandVersion({ ifMatch }: ScimRequest, resource: Resource): void {
  if (ifMatch === null || namesVersion(ifMatch, etagOf(resource))) return
  throw new ScimError(
    'precondition_failed',
    null,
    'The resource was changed meanwhile; read it again',
  )
}

type Shape = { attributes: string | null; excludedAttributes: string | null }

const namesIn = (list: string | null): Set<string> | null =>
  list === null
    ? null
    : new Set(
        list.split(',').map((one) => {
          const text = one.trim().toLowerCase()
          // A URN has colons and dots of its own; its last name counts, or it stands for itself.
          const [name = ''] = text.startsWith('urn:')
            ? [text.includes(':user:') || text.includes(':group:') ? last(text) : text]
            : text.split('.')
          return name
        }),
      )
const last = (urn: string): string => urn.slice(urn.lastIndexOf(':') + 1).split('.')[0] ?? ''

/** Whether an answer is to have an attribute. */
export function wants({ attributes, excludedAttributes }: Shape): (name: string) => boolean {
  const [only, without] = [namesIn(attributes), namesIn(excludedAttributes)]
  const always = (name: string) => name === 'schemas' || name === 'id'
  return (name) => {
    const lower = name.toLowerCase()
    return always(lower) || (only === null ? !without?.has(lower) : only.has(lower))
  }
}

/** The resource with the attributes that are wanted (RFC 7644 section 3.9). */
export function shaped(resource: Resource, shape: Shape): Resource {
  const wanted = wants(shape)
  const kept = Object.entries(resource).filter(([name]) => wanted(name))
  return { ...Object.fromEntries(kept), schemas: resource.schemas }
}

export type ListQuery = Shape & { filter: string | null; startIndex: number; count: number }

/** Where a page begins and how long it is at most: values out of range are moved into it (RFC 7644 section 3.4.2.4). */
export const sliceOf = ({ startIndex, count }: ListQuery): { offset: number; limit: number } => ({
  offset: Math.max(1, startIndex) - 1,
  limit: Math.min(Math.max(0, count), SCIM_LIMITS.page),
})

export const listResponse = (
  resources: Resource[],
  total: number,
  { offset }: { offset: number },
) => ({
  schemas: [SCIM_URNS.list],
  totalResults: total,
  startIndex: offset + 1,
  itemsPerPage: resources.length,
  Resources: resources,
})
