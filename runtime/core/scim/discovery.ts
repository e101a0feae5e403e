/**
 * Discovery resources: what this service supports (RFC 7643 sections 5 to 7), generated from the table of
 * attributes.
 */
import { SCIM_LIMITS, SCIM_URNS, USER_FIELDS } from '../../contract/models/scim.ts'
import { ScimError } from './problem.ts'
import { type ListQuery, listResponse, type Resource, type ScimRequest } from './resource.ts'

export const serviceProviderConfig = ({ base }: ScimRequest): Resource => ({
  schemas: [SCIM_URNS.config],
  documentationUri: base.replace(/\/scim\/v2$/, '/docs/administer/scim'),
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: SCIM_LIMITS.page },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'SCIM token',
      description: 'A token of this provider, made by POST /scim_tokens',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
})

const resourceType = (
  { base }: ScimRequest,
  name: 'User' | 'Group',
  schema: string,
  extensions: string[],
): Resource => ({
  schemas: [SCIM_URNS.resourceType],
  ...{ id: name, name, endpoint: `/${name}s`, schema },
  ...(extensions.length === 0
    ? {}
    : { schemaExtensions: extensions.map((one) => ({ schema: one, required: false })) }),
  meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
})

const resourceTypes = (request: ScimRequest): Resource[] => [
  resourceType(request, 'User', SCIM_URNS.user, [SCIM_URNS.enterprise]),
  resourceType(request, 'Group', SCIM_URNS.group, []),
]

/** Returns an attribute of a schema, with the most common characteristics as defaults. */
const attribute = (name: string, description: string, more: object = {}) => ({
  ...{ name, type: 'string', multiValued: false, description, required: false },
  ...{ caseExact: false, mutability: 'readWrite', returned: 'default', uniqueness: 'none' },
  ...more,
})

const REF = attribute('$ref', 'Where the user is', {
  ...{ type: 'reference', referenceTypes: ['User'] },
  ...{ caseExact: true, mutability: 'readOnly' },
})

const SPECIAL: Readonly<Record<string, object>> = {
  userName: { required: true, uniqueness: 'server' },
  externalId: { caseExact: true },
  active: { type: 'boolean' },
  emails: {
    ...{ type: 'complex', multiValued: true },
    subAttributes: [
      attribute('value', 'The address'),
      attribute('type', 'work', { canonicalValues: ['work'] }),
      attribute('primary', 'Always true', { type: 'boolean' }),
    ],
  },
  manager: {
    type: 'complex',
    subAttributes: [
      attribute('value', 'The id of the manager'),
      REF,
      attribute('displayName', 'The name', { mutability: 'readOnly' }),
    ],
  },
}

const attributesOf = (of: 'user' | 'enterprise') =>
  Object.values(USER_FIELDS).flatMap(({ path, what, of: schema }) =>
    schema === of && !path.includes('.') ? [attribute(path, what, SPECIAL[path])] : [],
  )

const NAME = attribute('name', 'The parts of the name', {
  type: 'complex',
  subAttributes: [
    attribute('formatted', 'The whole name', { mutability: 'readOnly' }),
    ...Object.values(USER_FIELDS).flatMap(({ path, what }) =>
      path.startsWith('name.') ? [attribute(path.slice('name.'.length), what)] : [],
    ),
  ],
})
const GROUPS = attribute('groups', 'The groups that the person is in', {
  ...{ type: 'complex', multiValued: true, mutability: 'readOnly' },
  subAttributes: [attribute('value', 'Id'), attribute('display', 'Name')],
})
const MEMBERS = attribute('members', 'The people of the group', {
  ...{ type: 'complex', multiValued: true },
  subAttributes: [
    attribute('value', 'The id of a user', { mutability: 'immutable' }),
    REF,
    attribute('type', 'User', { mutability: 'immutable', canonicalValues: ['User'] }),
    attribute('display', 'The name', { mutability: 'readOnly' }),
  ],
})

const schemasOf = ({ base }: ScimRequest): Resource[] =>
  [
    {
      ...{ id: SCIM_URNS.user, name: 'User', description: 'A person' },
      attributes: [...attributesOf('user'), NAME, GROUPS],
    },
    {
      ...{ id: SCIM_URNS.enterprise, name: 'EnterpriseUser', description: 'A person at work' },
      attributes: attributesOf('enterprise'),
    },
    {
      ...{ id: SCIM_URNS.group, name: 'Group', description: 'A group of people' },
      attributes: [
        attribute('displayName', 'The name, unique', { required: true, uniqueness: 'server' }),
        attribute('externalId', 'The provider’s id', { caseExact: true }),
        MEMBERS,
      ],
    },
  ].map((one) => ({
    schemas: [SCIM_URNS.schema],
    ...one,
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${one.id}` },
  }))

/**
 * Lists the resource types.
 *
 * @throws ScimError `forbidden` if there is a filter (RFC 7644 section 4)
 */
export const listResourceTypes = (request: ScimRequest, { filter }: ListQuery) =>
  whole(resourceTypes(request), filter)
/**
 * Lists the schemas.
 *
 * @throws ScimError `forbidden` if there is a filter (RFC 7644 section 4)
 */
export const listSchemas = (request: ScimRequest, { filter }: ListQuery) =>
  whole(schemasOf(request), filter)
export const getResourceType = (request: ScimRequest, id: string) =>
  found(resourceTypes(request), id, 'ResourceType')
export const getSchema = (request: ScimRequest, id: string) =>
  found(schemasOf(request), id, 'Schema')

function whole(all: Resource[], filter: string | null) {
  if (filter !== null)
    throw new ScimError('forbidden', null, 'These lists cannot be filtered: leave out filter')
  return listResponse(all, all.length, { offset: 0 })
}

function found(all: readonly Resource[], id: string, what: string): Resource {
  const one = all.find((resource) => resource['id'] === id)
  if (one) return one
  throw new ScimError(
    'not_found',
    null,
    `There is no ${what} with that id; leave the id out to list all`,
  )
}
