/**
 * Roles and their permissions (role names of core-interface.md section 1.17). A permission is `noun.read`,
 * `noun.write` or `operator`.
 */

import { keysOf } from '../schema/keys.ts'

/** Every permission that an endpoint may require. */
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

/** Descriptions of permissions in the exact wording that clients search for (core-interface.md section 3). */
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
 * Roles by name, as stored and on the wire; names ignore case. Everyone also has `User`: requesting access
 * for oneself is not administration, so the read-only roles may do it, too (core-interface.md section 1.17
 * does not say otherwise).
 */
export const ROLES = {
  Admin: role('Admin', PERMISSIONS, 'everything'),
  'Read Only Admin': role(
    'Read Only Admin',
    READS,
    'reads everything; changes only what every user may change: their own requests and assigned tasks',
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
  'App Admin': role(
    'App Admin',
    [],
    'manages the apps that list them as an admin, and the tasks of those apps',
  ),
  'Access Review Administrator': role(
    'Access Review Administrator',
    ['reviews.read', 'reviews.write', 'accounts.read'],
    'creates, reads and carries out access reviews; decides only as a reviewer',
  ),
  'Vendor Owner': role('Vendor Owner', [], 'kept for clients; grants nothing'),
  'Vendor Agreement Owner': role('Vendor Agreement Owner', [], 'kept for clients; grants nothing'),
  User: role('User', [], 'uses the app store, their own account, requests and assigned tasks'),
} as const satisfies Record<string, RoleRow>

export type RoleName = keyof typeof ROLES

/** Returns the role with this name in any case, or null. */
export function roleOf(name: string): RoleName | null {
  const wanted = name.trim().toLowerCase()
  return keysOf(ROLES).find((one) => one.toLowerCase() === wanted) ?? null
}
