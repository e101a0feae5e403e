/** Requestable permissions: core-interface.md section 1.7. */
import {
  RequestablePermissionInput,
  RequestablePermissionInputUpdate,
  RequestablePermissionOutput,
} from '../models/requestable-permission.ts'
import { endpoint } from './endpoint.ts'
import { bool, requiredText, text } from './params.ts'

const permissions = endpoint('Permissions')

const inherited = {
  include_inherited_configs: bool(true).describe(
    'Whether to fill in values inherited from the app’s settings',
  ),
}

const filters = {
  search_term: text().describe('Part of the label'),
  exact_match: bool(false).describe('Whether the whole text must match'),
  in_app_store: bool(null).describe('Only visible permissions, or only hidden ones'),
  ...inherited,
}

export const PERMISSION_ENDPOINTS = {
  list_app_permissions: permissions.page('/appstore/apps/:app_id/requestable_permissions', {
    summary: 'List the requestable permissions of an app, by label',
    who: 'caller',
    query: filters,
    output: RequestablePermissionOutput,
  }),
  list_permissions: permissions.page('/appstore/requestable_permissions', {
    summary: 'List the requestable permissions of an app, by label',
    who: 'caller',
    query: { app_id: requiredText().describe('Id of the app'), ...filters },
    output: RequestablePermissionOutput,
  }),
  create_permission: permissions.post('/appstore/requestable_permissions', {
    summary: 'Create a permission; hidden by default',
    who: 'caller',
    query: inherited,
    body: RequestablePermissionInput,
    output: RequestablePermissionOutput,
    status: 201,
  }),
  get_permission: permissions.get('/appstore/requestable_permissions/:permission_id', {
    summary: 'Read a permission',
    who: 'caller',
    query: inherited,
    output: RequestablePermissionOutput,
  }),
  update_permission: permissions.patch('/appstore/requestable_permissions/:permission_id', {
    summary: 'Change the given members; lists are replaced, null resets a member',
    who: 'caller',
    query: inherited,
    body: RequestablePermissionInputUpdate,
    output: RequestablePermissionOutput,
  }),
  delete_permission: permissions.delete('/appstore/requestable_permissions/:permission_id', {
    summary: 'Delete a permission that was created in Keyway (type NATIVE)',
    who: 'caller',
  }),
} as const
