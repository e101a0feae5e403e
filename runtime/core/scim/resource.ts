/** What all resources have: location, version, the attributes that are wanted. Pure. */
import { createHash } from 'node:crypto'
import { SCIM_LIMITS, SCIM_URNS, USER_FIELDS } from '../../contract/models/scim.ts'
import { isObject, membersOf } from '../../contract/schema/record.ts'
import { schemaOf } from './paths.ts'
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

/**
 * The resource with its `meta`; its version is a digest of what it says.
 *
 * @param isWhole false: something was not read, so it has no version that a change could be judged by
 */
export function withMeta(
  resource: Resource & { id: string },
  kind: 'User' | 'Group',
  { base }: ScimRequest,
  { created, lastModified }: Times,
  isWhole: boolean,
): Resource {
  return {
    ...resource,
    meta: {
      resourceType: kind,
      ...(created === undefined ? {} : { created: created.toISOString() }),
      ...(lastModified === undefined ? {} : { lastModified: lastModified.toISOString() }),
      location: `${base}/${kind}s/${resource.id}`,
      ...(isWhole ? { version: versionOf(resource) } : {}),
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

/** Where an attribute is in a resource, in small letters: a schema of an extension, the attribute, its part. */
type Path = readonly string[]

const pathsIn = (list: string | null): Path[] =>
  (list ?? '').split(',').flatMap((one) => {
    const { enterprise, rest } = schemaOf(one.trim())
    if (rest === '') return enterprise ? [[EXTENSION]] : []
    // Of a schema that is not ours nothing is there.
    const parts = rest.toLowerCase().startsWith('urn:') ? [rest] : rest.toLowerCase().split('.')
    // Providers leave out the schema of the extension.
    const inExtension = enterprise ?? ENTERPRISE_NAMES.has(parts[0] ?? '')
    return [inExtension ? [EXTENSION, ...parts] : parts]
  })

const EXTENSION = SCIM_URNS.enterprise.toLowerCase()
const ENTERPRISE_NAMES: ReadonlySet<string> = new Set(
  Object.values(USER_FIELDS).flatMap(({ of, path }) =>
    of === 'enterprise' ? [path.toLowerCase()] : [],
  ),
)

/** Of the paths that go through a member those that go on below it; null where one ends there. */
function below(paths: readonly Path[], name: string): Path[] | null {
  const through = paths.filter(([first]) => first === name.toLowerCase())
  return through.some(({ length }) => length === 1) ? null : through.map(([, ...rest]) => rest)
}

/** What of a value the paths name (`keep`), or all but that. Undefined: nothing. */
function cut(value: unknown, paths: readonly Path[], keep: boolean): unknown {
  if (Array.isArray(value))
    return value.map((one) => cut(one, paths, keep)).filter((one) => one !== undefined)
  if (!isObject(value)) return keep ? undefined : value
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const further = below(paths, name)
    if (further === null) return keep ? [[name, inner] as const] : []
    if (further.length === 0) return keep ? [] : [[name, inner] as const]
    const rest = cut(inner, further, keep)
    return rest === undefined ? [] : [[name, rest] as const]
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** Whether an answer is to have something of an attribute. */
export function wants({ attributes, excludedAttributes }: Shape): (name: string) => boolean {
  const [only, without] = [pathsIn(attributes), pathsIn(excludedAttributes)]
  return (name) =>
    only.length > 0 ? only.some(([first]) => first === name) : below(without, name) !== null
}

/** The resource with the attributes that are wanted (RFC 7644 section 3.9); `schemas` and `id` always are. */
export function shaped(resource: Resource, { attributes, excludedAttributes }: Shape): Resource {
  const [only, without] = [pathsIn(attributes), pathsIn(excludedAttributes)]
  const always = { schemas: resource.schemas, ...('id' in resource ? { id: resource['id'] } : {}) }
  if (only.length > 0) return { ...always, ...membersOf(cut(resource, only, true)), ...always }
  return { ...always, ...membersOf(cut(resource, without, false)), ...always }
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
