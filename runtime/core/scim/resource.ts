/** Common parts of all resources: location, version and selection of attributes. Pure. */
import { createHash } from 'node:crypto'
import { SCIM_LIMITS, SCIM_URNS, USER_FIELDS } from '../../contract/models/scim.ts'
import { isObject, membersOf } from '../../contract/schema/record.ts'
import { schemaOf } from './paths.ts'
import { invalidValue, ScimError } from './problem.ts'

/** Parts of a request other than its body. */
export type ScimRequest = {
  /** Base URL of the service: `https://keyway.example.com/scim/v2`. */
  base: string
  /** Value of the If-Match header, or null. */
  ifMatch: string | null
}

export type Resource = Record<string, unknown> & { schemas: string[] }
type Times = { created?: Date; lastModified?: Date }

/**
 * Adds `meta` to a resource. Its version is a digest of the content.
 *
 * @param isWhole false if parts were not read: the resource then has no version against which a change could
 *   be checked
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

/** Returns the version from a resource's `meta`. */
export function etagOf(resource: Resource): string {
  const meta = resource['meta']
  return typeof meta === 'object' && meta !== null && 'version' in meta ? String(meta.version) : ''
}

/** Reports whether a header of ETags includes a version. Weak and strong ETags are treated alike. */
export function namesVersion(header: string, version: string): boolean {
  const bare = (one: string) => one.trim().replace(/^W\//, '')
  return header.split(',').some((one) => one.trim() === '*' || bare(one) === bare(version))
}

/**
 * Checks the version of the request.
 *
 * @throws ScimError `precondition_failed` if the resource differs from what the caller has seen
 */
export function requireVersion({ ifMatch }: ScimRequest, resource: Resource): void {
  if (ifMatch === null || namesVersion(ifMatch, etagOf(resource))) return
  throw new ScimError(
    'precondition_failed',
    null,
    'The resource has changed in the meantime; read it again',
  )
}

/**
 * Attributes by lower-case name, with an extension under its schema. Null stands for the whole attribute, a
 * map for some of its parts.
 */
interface Names extends Map<string, Names | null> {}

/** Selection of attributes for a response. */
type Shape = {
  /** Empty for all attributes. */
  only: Names
  without: Names
  /** Whether the request has the parameter `attributes`, even if it names none. */
  isAsked: boolean
}

/**
 * Parses the parameters that select attributes.
 *
 * @throws ScimError `invalidValue` if there are more names than are looked up in each resource
 */
export const askedShape = (
  attributes: string | null,
  excludedAttributes: string | null,
): Shape => ({
  only: namesIn('attributes', attributes),
  without: namesIn('excludedAttributes', excludedAttributes),
  isAsked: attributes !== null,
})

function namesIn(which: string, list: string | null): Names {
  const { shapeLength, shapeNames } = SCIM_LIMITS
  const text = list ?? ''
  if (text.length > shapeLength)
    throw invalidValue(`${which} has ${text.length} characters; at most ${shapeLength} are allowed`)
  const all = new Set(text.split(',').map((one) => one.trim().toLowerCase()))
  all.delete('')
  if (all.size > shapeNames)
    throw invalidValue(`${which} has ${all.size} names; at most ${shapeNames} are allowed`)
  const names: Names = new Map()
  for (const one of all) addName(names, partsOf(one))
  return names
}

function addName(names: Names, [first, ...rest]: readonly string[]): void {
  if (first === undefined || names.get(first) === null) return
  const parts: Names | null = rest.length === 0 ? null : (names.get(first) ?? new Map())
  names.set(first, parts)
  if (parts) addName(parts, rest)
}

/** Returns the path of an attribute in a resource: the schema of an extension, the attribute, its part. */
function partsOf(name: string): string[] {
  const { enterprise, rest } = schemaOf(name)
  if (rest === '') return enterprise ? [EXTENSION] : []
  // An unknown schema matches nothing.
  const parts = rest.startsWith('urn:') ? [rest] : rest.split('.')
  // Providers omit the schema of the extension.
  const inExtension = enterprise ?? ENTERPRISE_NAMES.has(parts[0] ?? '')
  return inExtension ? [EXTENSION, ...parts] : parts
}

const EXTENSION = SCIM_URNS.enterprise.toLowerCase()
const ENTERPRISE_NAMES: ReadonlySet<string> = new Set(
  Object.values(USER_FIELDS).flatMap(({ of, path }) =>
    of === 'enterprise' ? [path.toLowerCase()] : [],
  ),
)

/**
 * Returns the named parts of a value if `keep` is true, otherwise all other parts. Undefined if nothing is
 * left.
 */
function cut(value: unknown, names: Names, keep: boolean): unknown {
  if (Array.isArray(value))
    return value.map((one) => cut(one, names, keep)).filter((one) => one !== undefined)
  if (!isObject(value)) return keep ? undefined : value
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const parts = names.get(name.toLowerCase())
    if (parts === null) return keep ? [[name, inner] as const] : []
    if (parts === undefined) return keep ? [] : [[name, inner] as const]
    const rest = cut(inner, parts, keep)
    return rest === undefined ? [] : [[name, rest] as const]
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** Reports whether a response includes an attribute or a part of it. */
export const wants =
  ({ only, without }: Shape): ((name: string) => boolean) =>
  (name) =>
    only.size > 0 ? only.has(name) : without.get(name) !== null

/**
 * Returns the resource with the selected attributes (RFC 7644 section 3.9). `schemas` and `id` are always
 * included.
 */
export function shaped(resource: Resource, { only, without }: Shape): Resource {
  const always = { schemas: resource.schemas, ...('id' in resource ? { id: resource['id'] } : {}) }
  if (only.size > 0) return { ...always, ...membersOf(cut(resource, only, true)), ...always }
  return { ...always, ...membersOf(cut(resource, without, false)), ...always }
}

export type ListQuery = {
  shape: Shape
  filter: string | null
  startIndex: number
  count: number
}

/** Returns the offset and the limit of a page. Values out of range are clamped (RFC 7644 section 3.4.2.4). */
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
