/** Operations that an identity provider calls below `/scim/v2` (RFC 7644 section 3.2), by operation id. */
import {
  SCIM_LIMITS,
  ScimBody,
  ScimGroup,
  ScimResource,
  ScimUser,
  scimList,
} from '../models/scim.ts'
import type { AnySchema } from '../schema/shape.ts'
import type { EndpointMethod } from './methods.ts'
import { int, type Params, text } from './params.ts'

/** One operation. */
export type ScimRow = {
  method: EndpointMethod
  /** Path below `/scim/v2`, in Hono's form. */
  path: string
  summary: string
  query: Params
  body: AnySchema | null
  output: AnySchema | null
  status: 200 | 201 | 204
  /** Statuses of failures that not every operation returns. */
  errors: readonly (403 | 404 | 409 | 412 | 413)[]
}

export const SCIM_PATH = '/scim/v2'

/** Paths that RFC 7644 describes and this service does not support. Section 3.11 requires 501, not 404. */
export const SCIM_NOT_OFFERED = [
  '/Me',
  '/Bulk',
  '/.search',
  '/Users/.search',
  '/Groups/.search',
] as const

const shape = {
  attributes: text().describe(
    `Only these attributes, separated by commas; at most ${SCIM_LIMITS.shapeNames}`,
  ),
  excludedAttributes: text().describe(
    `All but these attributes; at most ${SCIM_LIMITS.shapeNames}`,
  ),
}
const listing = {
  filter: text().describe('Such as `userName eq "ada@example.com"`'),
  startIndex: int({ default: 1 }).describe('Index of the first result, starting at 1'),
  count: int({ default: 100 }).describe(`Maximum number of results, up to ${SCIM_LIMITS.page}`),
  ...shape,
}
const none: Params = {}

type Crud = { path: string; one: string; output: AnySchema; list: AnySchema; gone: string }

const crud = ({ path, one, output, list, gone }: Crud) => {
  const same = { path: `${path}/:id`, query: shape, output, status: 200 } as const
  return {
    list: {
      ...{ method: 'GET', path, summary: `List ${one}s`, query: listing },
      ...{ body: null, output: list, status: 200, errors: [] },
    },
    create: {
      ...{ method: 'POST', path, summary: `Create a ${one}`, query: shape },
      ...{ body: ScimBody, output, status: 201, errors: [409, 413] },
    },
    get: { ...same, method: 'GET', summary: `Read a ${one}`, body: null, errors: [404] },
    replace: {
      ...{ ...same, method: 'PUT', summary: `Replace a ${one}` },
      ...{ body: ScimBody, errors: [404, 409, 412, 413] },
    },
    patch: {
      ...{ ...same, method: 'PATCH', summary: `Change a ${one}` },
      ...{ body: ScimBody, errors: [404, 409, 412, 413] },
    },
    remove: {
      ...{ ...same, method: 'DELETE', summary: gone, query: none },
      ...{ body: null, output: null, status: 204, errors: [404, 409, 412] },
    },
  } as const satisfies Record<string, ScimRow>
}

const users = crud({
  ...{ path: '/Users', one: 'user', output: ScimUser, list: scimList('ScimUserList') },
  gone: 'Delete a user; the person is offboarded and the record is kept',
})
const groups = crud({
  ...{ path: '/Groups', one: 'group', output: ScimGroup, list: scimList('ScimGroupList') },
  gone: 'Delete a group; it loses its members and the record is kept',
})

const discovery = (path: string, summary: string, output: AnySchema, errors: [] | [404] = []) =>
  ({
    ...{ method: 'GET', path, summary, query: none },
    ...{ body: null, output, status: 200, errors },
  }) as const satisfies ScimRow

const whole = {
  filter: text().describe(
    'Refused with 403, because filtering is not allowed here (RFC 7644 section 4)',
  ),
}
const discoveries = (path: string, summary: string, output: AnySchema) =>
  ({ ...discovery(path, summary, output), query: whole, errors: [403] }) as const satisfies ScimRow

export const SCIM_ENDPOINTS = {
  scim_service_provider_config: discovery(
    '/ServiceProviderConfig',
    'Read the capabilities of this service',
    ScimResource,
  ),
  scim_list_resource_types: discoveries(
    '/ResourceTypes',
    'List the types of resources',
    scimList('ScimResourceTypeList'),
  ),
  scim_get_resource_type: discovery(
    '/ResourceTypes/:id',
    'Read a kind of resource',
    ScimResource,
    [404],
  ),
  scim_list_schemas: discoveries('/Schemas', 'List the schemas', scimList('ScimSchemaList')),
  scim_get_schema: discovery('/Schemas/:id', 'Read a schema', ScimResource, [404]),
  scim_list_users: users.list,
  scim_get_user: users.get,
  scim_create_user: users.create,
  scim_replace_user: users.replace,
  scim_patch_user: users.patch,
  scim_delete_user: users.remove,
  scim_list_groups: groups.list,
  scim_get_group: groups.get,
  scim_create_group: groups.create,
  scim_replace_group: groups.replace,
  scim_patch_group: groups.patch,
  scim_delete_group: groups.remove,
} as const satisfies Record<string, ScimRow>

export type ScimEndpointName = keyof typeof SCIM_ENDPOINTS
