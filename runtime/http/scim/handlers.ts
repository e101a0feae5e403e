/** Handlers of the SCIM operations: one line each. */
import type { ScimEndpointName } from '../../contract/endpoints/scim.ts'
import type { ScimCaller } from '../../core/scim/caller.ts'
import * as discovery from '../../core/scim/discovery.ts'
import { changeOfPatch, changeOfResource } from '../../core/scim/group-fields.ts'
import { patchOperations } from '../../core/scim/patch.ts'
import { getScimGroup, listScimGroups } from '../../core/scim/read-groups.ts'
import { getScimUser, listScimUsers } from '../../core/scim/read-users.ts'
import { type ListQuery, type ScimRequest, wants } from '../../core/scim/resource.ts'
import { replaced, valuesOfPatch, valuesOfResource } from '../../core/scim/user-fields.ts'
import * as groups from '../../core/scim/write-groups.ts'
import * as users from '../../core/scim/write-users.ts'
import type { Db } from '../../database/database.ts'

type ScimInput = {
  id: string
  query: ListQuery
  body: Record<string, unknown>
  request: ScimRequest
  deps: users.PushDeps
}

/** Returns a resource, a list, or null for an empty answer. */
type Handler = (db: Db, who: ScimCaller, input: ScimInput) => Promise<object | null>

export const SCIM_HANDLERS: Record<ScimEndpointName, Handler> = {
  scim_service_provider_config: async (_, __, { request }) =>
    discovery.serviceProviderConfig(request),
  scim_list_resource_types: async (_, __, { request, query }) =>
    discovery.listResourceTypes(request, query),
  scim_get_resource_type: async (_, __, { request, id }) => discovery.getResourceType(request, id),
  scim_list_schemas: async (_, __, { request, query }) => discovery.listSchemas(request, query),
  scim_get_schema: async (_, __, { request, id }) => discovery.getSchema(request, id),
  scim_list_users: (db, who, { query, request }) => listScimUsers(db, who, query, request),
  scim_get_user: (db, who, { id, request }) => getScimUser(db, who, id, request),
  scim_create_user: (db, who, { body, request, deps }) =>
    users.createUser(db, who, body, request, deps),
  // A replacement removes members that it does not name.
  scim_replace_user: async (db, who, { id, body, request, deps }) => {
    const values = replaced(valuesOfResource(body))
    return users.changeUser(db, who, id, () => values, request, deps)
  },
  scim_patch_user: async (db, who, { id, body, request, deps }) => {
    const operations = patchOperations(body)
    return users.changeUser(
      db,
      who,
      id,
      ({ email }) => valuesOfPatch(operations, email),
      request,
      deps,
    )
  },
  scim_delete_user: (db, who, { id, request, deps }) =>
    users.deleteUser(db, who, id, request, deps),
  scim_list_groups: (db, who, { query, request }) => listScimGroups(db, who, query, request),
  scim_get_group: (db, who, { id, query, request }) =>
    getScimGroup(db, who, id, wants(query.shape)('members') ? 'all' : 'none', request),
  scim_create_group: async (db, who, input) => {
    const id = await groups.createGroup(db, who, input.body)
    return groupAfter(db, who, { ...input, id })
  },
  scim_replace_group: async (db, who, input) => {
    await groups.changeGroup(db, who, input.id, changeOfResource(input.body), input.request)
    return groupAfter(db, who, input)
  },
  scim_patch_group: async (db, who, input) => {
    const change = changeOfPatch(patchOperations(input.body))
    await groups.changeGroup(db, who, input.id, change, input.request)
    // A provider that adds one of many members does not get all of them, unless it requests them.
    return input.query.shape.isAsked ? groupAfter(db, who, input) : null
  },
  scim_delete_group: (db, who, { id, request, deps }) =>
    groups.deleteGroup(db, who, id, request, deps),
}

/**
 * Returns the group after a change. The change has been made, so too many members must not look like a
 * failure.
 */
function groupAfter(db: Db, who: ScimCaller, { id, query, request }: ScimInput) {
  return getScimGroup(db, who, id, wants(query.shape)('members') ? 'few' : 'none', request)
}
