/** Users, roles and groups: core-interface.md sections 1.2 and 1.3. */

import * as v from 'valibot'
import { Access } from '../models/access.ts'
import { Account } from '../models/app.ts'
import { EvidenceFile } from '../models/evidence-file.ts'
import { Group, USER_SORTS, User, UserWithCustomAttributes } from '../models/person.ts'
import { PersonalSettings, PersonalSettingsChange } from '../models/personal-settings.ts'
import { IdentityEventsResult } from '../models/sync.ts'
import { strictObject } from '../schema/schemas.ts'
import { endpoint } from './endpoint.ts'
import { asOf, bool, datetime, int, oneOf, text, texts } from './params.ts'
import { PersonExport } from './personal-data.ts'

const users = endpoint('Users')
const groups = endpoint('Groups')

const Role = strictObject('UserRole', { name: v.string() })
const exact = bool(false).describe('Whether the whole text must match')

export const USER_ENDPOINTS = {
  get_current_user: users.get('/users/current', {
    summary: 'Read the user that the token belongs to',
    who: 'caller',
    output: User,
  }),
  get_personal_settings: users.get('/users/current/settings', {
    summary: 'Read the caller’s settings for mail, and for the language of pages and mail',
    who: 'caller',
    output: PersonalSettings,
  }),
  update_personal_settings: users.patch('/users/current/settings', {
    summary: 'Change the settings for mail and language; members that are left out stay unchanged',
    who: 'caller',
    body: PersonalSettingsChange,
    output: PersonalSettings,
  }),
  export_own_data: users.post('/users/current/export', {
    summary: 'Export the stored data of the caller; the export is recorded',
    who: 'caller',
    output: PersonExport,
    errors: [429],
  }),
  list_users: users.page('/users', {
    summary: 'List users, by e-mail',
    who: 'users.read',
    query: {
      search_term: text().describe('Part of the name or the e-mail address'),
      exact_match: exact,
      sort: oneOf(USER_SORTS).describe('Sort order; a leading minus reverses it'),
      expand: texts().describe('custom_attributes'),
    },
    output: UserWithCustomAttributes,
  }),
  get_user: users.get('/users/:user_id', {
    summary: 'Read a user',
    who: 'caller',
    query: { expand: texts().describe('custom_attributes') },
    output: UserWithCustomAttributes,
  }),
  list_user_accounts: users.page('/users/:user_id/accounts', {
    summary: "List the accounts of a user; another user's need accounts.read",
    who: 'caller',
    query: { expand: texts().describe('app'), as_of: asOf },
    output: Account,
  }),
  list_user_access: users.page('/users/:user_id/access', {
    summary:
      "List the access of a user at a given time, with its reasons: accounts, their entitlements, groups, and grants not found by a sync; another user's access needs accounts.read",
    who: 'caller',
    query: { as_of: asOf },
    output: Access,
    errors: [403, 404],
  }),
  get_user_access_evidence: users.get('/users/:user_id/access/evidence', {
    summary: 'Download signed evidence of the access of a user at a given time, with its reasons',
    who: 'accounts.read',
    query: { as_of: asOf },
    answer: 'file',
    output: EvidenceFile,
    errors: [404],
  }),
  list_user_roles: users.get('/users/:user_id/roles', {
    summary: 'List the roles of a user',
    who: 'caller',
    output: v.array(Role),
  }),
  add_user_role: users.post('/users/:user_id/roles/:role_name', {
    summary: 'Give a user a role; giving it twice is not an error',
    who: 'roles.write',
    output: Role,
    status: 201,
  }),
  remove_user_role: users.delete('/users/:user_id/roles/:role_name', {
    summary: 'Remove a role from a user of this domain',
    who: 'roles.write',
  }),
  list_identity_events: users.get('/identity_events', {
    summary: 'List the changes of users by the identity source, oldest first',
    who: 'users.read',
    query: {
      identity_ids: texts().describe('Only changes of these users'),
      changed_fields: texts().describe('Only changes of these fields'),
      start_time: datetime().describe('From this time on'),
      end_time: datetime().describe('Up to this time'),
      cursor: text().describe('next_cursor of the previous response'),
      limit: int({ min: 1, max: 1000, default: 100 }).describe('Events per response'),
    },
    output: IdentityEventsResult,
  }),
  list_groups: groups.page('/groups', {
    summary: 'List groups, by name',
    who: 'groups.read',
    query: {
      integration_specific_id: text(),
      name: text().describe('Part of the name'),
      exact_match: exact,
      app_id: text(),
    },
    output: Group,
  }),
  get_group: groups.get('/groups/:group_id', {
    summary: 'Read a group',
    who: 'groups.read',
    output: Group,
  }),
  list_group_users: groups.page('/groups/:group_id/users', {
    summary: 'List the members of a group',
    who: 'groups.read',
    output: User,
  }),
} as const
