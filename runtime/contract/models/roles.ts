/**
 * Roles and what they may, in one table (role names of core-interface.md section 1.17). A permission is
 * `noun.read` or `noun.write`; `own` ones reach only what belongs to the caller.
 */

import { keysOf } from '../schema/keys.ts'

/** Every permission that an endpoint may ask for. */
export const PERMISSIONS = [
  'users.read',
  'roles.write',
  'groups.read',
  'apps.read',
  'apps.write',
  'appstore.read',
  'appstore.write',
  'tasks.read',
  'tasks.write',
  'accounts.read',
  'policies.read',
  'policies.write',
  'offboardings.read',
  'offboardings.write',
  'reviews.read',
  'reviews.write',
  'findings.read',
  'findings.write',
  'expenses.read',
  'expenses.write',
  'scim.read',
  'scim.write',
  'logs.read',
  'operator',
] as const
export type Permission = (typeof PERMISSIONS)[number]

/** What a permission lets one do, where clients look for the words (core-interface.md section 3). */
export const PERMISSION_WORDS: Partial<Record<Permission, string>> = {
  'apps.write': 'manage apps on this domain',
}

type RoleRow = { label: string; permissions: readonly Permission[]; meaning: string }

const role = (label: string, permissions: readonly Permission[], meaning: string): RoleRow => ({
  label,
  permissions,
  meaning,
})

const READS = PERMISSIONS.filter((name) => name.endsWith('.read'))

/**
 * ROLES: name as stored and on the wire, without case. Everyone also has `User`: asking for access for oneself is not
 * administration, so the read-only roles may do it too (core-interface.md section 1.17 does not say otherwise).
 */
export const ROLES = {
  Admin: role('Admin', PERMISSIONS, 'everything'),
  'Read Only Admin': role(
    'Read Only Admin',
    READS,
    'reads everything; changes only what every user may: their own requests and tasks assigned to them',
  ),
  'AppStore Read Only Admin': role(
    'AppStore Read Only Admin',
    ['appstore.read'],
    'reads the app store, hidden apps included',
  ),
  Auditor: role(
    'Auditor',
    ['logs.read', 'accounts.read', 'reviews.read', 'findings.read'],
    'reads logs, accounts, reviews and findings',
  ),
  'App Admin': role('App Admin', [], 'the apps that list them as an admin, and the tasks of those'),
  'Access Review Administrator': role(
    'Access Review Administrator',
    ['reviews.read', 'reviews.write', 'accounts.read'],
    'makes access reviews, reads them and carries them through; decides what it is a reviewer of',
  ),
  'Vendor Owner': role('Vendor Owner', [], 'kept for clients; grants nothing'),
  'Vendor Agreement Owner': role('Vendor Agreement Owner', [], 'kept for clients; grants nothing'),
  User: role('User', [], 'themselves, the app store, their own requests and assigned tasks'),
} as const satisfies Record<string, RoleRow>

export type RoleName = keyof typeof ROLES

/** The role of a name in any case, or null. */
export function roleOf(name: string): RoleName | null {
  const wanted = name.trim().toLowerCase()
  return keysOf(ROLES).find((one) => one.toLowerCase() === wanted) ?? null
}
