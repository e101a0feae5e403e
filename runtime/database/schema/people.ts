/** The domain, its users, their roles and groups, and their API tokens. */
import { sql } from 'drizzle-orm'
import { index, pgTable, primaryKey, uniqueIndex } from 'drizzle-orm/pg-core'
import { USER_STATUSES } from '../../contract/models/person.ts'
import { bytes, createdAt, domainId, id, moment, partOf, timestamps } from './columns.ts'

/** Single row: a deployment is one domain. */
export const domains = pgTable('domains', (t) => ({
  id: id(),
  name: t.text('name').notNull(),
  createdAt: createdAt(),
}))

export const users = pgTable(
  'users',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    email: t.text('email').notNull(),
    givenName: t.text('given_name').notNull().default(''),
    familyName: t.text('family_name').notNull().default(''),
    status: t.text('status', { enum: USER_STATUSES }).notNull().default('ACTIVE'),
    managerId: t.uuid('manager_id'),
    /** Name -> { type, value } as on the wire. */
    customAttributes: t
      .jsonb('custom_attributes')
      .$type<Record<string, unknown>>()
      .notNull()
      .default({}),
    ...timestamps(),
    /** Text for searches: address and name, separated by a character that neither contains. */
    searchText: t
      .text('search_text')
      .notNull()
      .generatedAlwaysAs(sql`lower(email) || chr(1) || lower(given_name || ' ' || family_name)`),
  }),
  (table) => [
    uniqueIndex('users_email').on(table.domainId, sql`lower(${table.email})`),
    // The order of every list of users: by e-mail, then by id.
    index('users_order').on(table.domainId, table.email, table.id),
    index('users_manager').on(table.managerId),
    // For whole names. A hash index takes names of any length.
    index('users_name').using('hash', sql`lower(given_name || ' ' || family_name)`),
  ],
)
export type UserRow = typeof users.$inferSelect

export const userRoles = pgTable(
  'user_roles',
  (t) => ({
    domainId: domainId().references(() => domains.id),
    userId: partOf('user_id', () => users.id),
    /** Key of ROLES. */
    role: t.text('role').notNull(),
    createdAt: createdAt(),
  }),
  (table) => [primaryKey({ columns: [table.userId, table.role] })],
)

export const groups = pgTable(
  'groups',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    name: t.text('name').notNull(),
    description: t.text('description').notNull().default(''),
    /** App that the group comes from. Null if it was imported with people. */
    appId: t.uuid('app_id'),
    integrationSpecificId: t.text('integration_specific_id').notNull().default(''),
    createdAt: createdAt(),
  }),
  (table) => [
    index('groups_order').on(table.domainId, table.name, table.id),
    index('groups_integration').on(table.domainId, table.integrationSpecificId),
    uniqueIndex('groups_synced')
      .on(table.appId, table.integrationSpecificId)
      .where(sql`${table.appId} is not null and ${table.integrationSpecificId} <> ''`),
  ],
)

export const groupMembers = pgTable(
  'group_members',
  {
    domainId: domainId().references(() => domains.id),
    groupId: partOf('group_id', () => groups.id),
    userId: partOf('user_id', () => users.id),
  },
  (table) => [
    primaryKey({ columns: [table.groupId, table.userId] }),
    index('group_members_user').on(table.userId),
  ],
)

/** API tokens. Only a keyed hash is stored. The prefix finds the row. */
export const apiTokens = pgTable(
  'api_tokens',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    userId: partOf('user_id', () => users.id),
    name: t.text('name').notNull(),
    description: t.text('description').notNull().default(''),
    prefix: t.text('prefix').notNull(),
    hash: bytes('hash').notNull(),
    /**
     * Id of the secret that made the hash (secrets/key-derivation.ts). Null for a token not used since this
     * has been recorded.
     */
    keyId: t.text('key_id'),
    readOnly: t.boolean('read_only').notNull().default(false),
    /**
     * Key with which the host proves to a command that it knows the token (secrets/key-derivation.ts). Null
     * for the operator’s own token and for older ones.
     */
    proofKey: bytes('proof_key'),
    /**
     * The operator’s token: KEYWAY_ADMIN_TOKEN, or one made by a host for itself. At most one such token
     * works.
     */
    operator: t.boolean('operator').notNull().default(false),
    expiresAt: moment('expires_at'),
    lastUsedAt: moment('last_used_at'),
    revokedAt: moment('revoked_at'),
    /** Id of the form that created it: sending the same form twice makes one token. */
    formId: t.uuid('form_id'),
    createdAt: createdAt(),
  }),
  (table) => [
    index('api_tokens_prefix').on(table.prefix),
    index('api_tokens_user').on(table.userId),
    uniqueIndex('api_tokens_form').on(table.userId, table.formId),
    index('api_tokens_done')
      .on(sql`least(revoked_at, expires_at)`, table.id)
      .where(sql`not operator`),
  ],
)
