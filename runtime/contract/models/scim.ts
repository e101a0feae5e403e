/**
 * SCIM 2.0 as identity providers push it (RFC 7643, RFC 7644): attributes, resources and messages on the
 * wire.
 */
import * as v from 'valibot'
import { described, maybe, nullable, strictObject } from '../schema/schemas.ts'

export const SCIM_URNS = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  enterprise: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  config: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  resourceType: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
} as const

/** Content type of every response (RFC 7644 section 8.1). */
export const SCIM_MEDIA_TYPE = 'application/scim+json; charset=utf-8'

/**
 * Limits: resources of a page, and members of the groups in a response. `shapeNames` and `shapeLength` bound
 * the names in `attributes` and in `excludedAttributes`, and their characters, which each resource of a
 * response is compared with. `attributes` bounds the attributes read from a resource or from the values of a
 * patch.
 */
export const SCIM_LIMITS = {
  page: 200,
  members: 50_000,
  patchOperations: 100,
  filterLength: 2000,
  filterTerms: 50,
  filterDepth: 10,
  shapeNames: 100,
  shapeLength: 2000,
  attributes: 300,
} as const

/** Maximum lengths of strings, in characters. */
export const SCIM_LENGTHS = { name: 255, value: 1000 } as const

type Field = {
  /** Path of the attribute within its schema: `name.givenName`. */
  path: string
  of: 'user' | 'enterprise'
  /**
   * `attribute`: stored as a custom attribute of the person, by its name. `own`: stored in a place of its
   * own.
   */
  kept: 'own' | 'attribute'
  what: string
}
const own = (path: string, what: string, of: Field['of'] = 'user'): Field => ({
  ...{ path, of, kept: 'own', what },
})
const attribute = (path: string, what: string, of: Field['of'] = 'user'): Field => ({
  ...{ path, of, kept: 'attribute', what },
})

/** Fields of a pushed user that are stored. Others are ignored (RFC 7644 section 3.3). */
export const USER_FIELDS = {
  userName: own('userName', 'User name at the provider; unique, compared without case'),
  externalId: own('externalId', 'Id at the provider'),
  givenName: own('name.givenName', 'First name'),
  familyName: own('name.familyName', 'Last name'),
  active: own('active', 'Whether the person works here; false starts an offboarding'),
  email: own('emails', 'The primary address, or else the one of type work, or else the first'),
  displayName: attribute('displayName', 'Display name'),
  title: attribute('title', 'Title'),
  userType: attribute('userType', 'Such as Employee or Contractor'),
  preferredLanguage: attribute('preferredLanguage', 'Language'),
  locale: attribute('locale', 'Locale'),
  timezone: attribute('timezone', 'Time zone'),
  employeeNumber: attribute('employeeNumber', 'Employee number', 'enterprise'),
  costCenter: attribute('costCenter', 'Cost center', 'enterprise'),
  organization: attribute('organization', 'Organization', 'enterprise'),
  division: attribute('division', 'Division', 'enterprise'),
  department: attribute('department', 'Department', 'enterprise'),
  manager: own('manager', 'Id of the manager, another user', 'enterprise'),
} as const satisfies Record<string, Field>
export type UserField = keyof typeof USER_FIELDS

/** Values of `scimType` (RFC 7644 section 3.12). */
const SCIM_TYPES = [
  'invalidFilter',
  'tooMany',
  'uniqueness',
  'mutability',
  'invalidSyntax',
  'invalidPath',
  'noTarget',
  'invalidValue',
] as const
export type ScimType = (typeof SCIM_TYPES)[number]

const text = (description: string) => described(v.string(), description)
const schemas = v.array(v.string())
const Meta = v.strictObject({
  resourceType: v.string(),
  created: v.optional(text('ISO 8601, UTC')),
  lastModified: v.optional(text('ISO 8601, UTC')),
  location: text('URL of the resource'),
  version: v.optional(text('As in the ETag header')),
})
const Reference = v.looseObject({ value: text('Id'), display: v.optional(v.string()) })

/** A resource or patch. Its attributes are validated one by one, because SCIM names ignore case. */
export const ScimBody = v.pipe(
  v.looseObject({ schemas: maybe(v.array(v.string())) }),
  v.metadata({ title: 'ScimBody', description: 'A SCIM resource, or a PatchOp message' }),
)

export const ScimUser = v.pipe(
  v.looseObject({
    schemas,
    id: v.string(),
    externalId: v.optional(v.string()),
    userName: v.optional(v.string()),
    active: v.optional(v.boolean()),
    meta: v.optional(Meta),
  }),
  v.metadata({ title: 'ScimUser', description: 'A person, in the form of RFC 7643 section 4.1' }),
)

export const ScimGroup = v.pipe(
  v.looseObject({
    schemas,
    id: v.string(),
    externalId: v.optional(v.string()),
    displayName: v.optional(v.string()),
    members: v.optional(v.array(Reference)),
    meta: v.optional(Meta),
  }),
  v.metadata({ title: 'ScimGroup', description: 'A group, in the form of RFC 7643 section 4.2' }),
)

/** Returns the schema of a list response. */
export const scimList = (title: string) =>
  strictObject(title, 'A page of a list; indexes start at 1', {
    schemas,
    totalResults: v.number(),
    startIndex: v.number(),
    itemsPerPage: v.number(),
    Resources: v.array(v.looseObject({})),
  })

/** A resource that describes the service. */
export const ScimResource = v.pipe(
  v.looseObject({ schemas }),
  v.metadata({ title: 'ScimResource', description: 'A description of the service' }),
)

export const ScimErrorBody = strictObject(
  'ScimError',
  'Description of the error (RFC 7644 section 3.12)',
  {
    schemas,
    status: text('The HTTP status'),
    scimType: v.optional(v.picklist(SCIM_TYPES)),
    detail: v.string(),
  },
)

export const ScimTokenInput = strictObject('ScimTokenInput', {
  name: v.pipe(
    v.string(),
    v.regex(/\S/, 'a name is needed'),
    v.maxLength(100),
    v.metadata({ description: 'For example, the name of the identity provider' }),
  ),
  expires_at: maybe(text('ISO 8601; absent: valid until it is revoked')),
})
export type ScimTokenInput = v.InferOutput<typeof ScimTokenInput>

const token = {
  id: v.string(),
  name: v.string(),
  prefix: text('First characters of the token'),
  created_at: text('ISO 8601, UTC'),
  last_used_at: nullable(text('ISO 8601, UTC, to the minute')),
  expires_at: nullable(text('ISO 8601, UTC')),
  revoked_at: nullable(text('ISO 8601, UTC')),
}
export const ScimToken = strictObject('ScimToken', 'A token of an identity provider', token)
export const NewScimToken = strictObject('NewScimToken', {
  ...token,
  token: text('The token; shown only once'),
})
