/** SCIM of identity providers: their tokens, and their ids of people and groups. */
import { sql } from 'drizzle-orm'
import { index, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytes, createdAt, domainId, id, moment, partOf } from './columns.ts'
import { domains, groups, users } from './people.ts'

/** Tokens of identity providers. They belong to no user and only open `/scim/v2`. */
export const scimTokens = pgTable(
  'scim_tokens',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    name: t.text('name').notNull(),
    prefix: t.text('prefix').notNull(),
    hash: bytes('hash').notNull(),
    /** Id of the secret that made the hash (secrets/key-derivation.ts). */
    keyId: t.text('key_id'),
    /** Person who created it. */
    createdById: t.uuid('created_by_id').references(() => users.id),
    expiresAt: moment('expires_at'),
    lastUsedAt: moment('last_used_at'),
    revokedAt: moment('revoked_at'),
    createdAt: createdAt(),
  }),
  (table) => [
    index('scim_tokens_prefix').on(table.prefix),
    index('scim_tokens_order').on(table.domainId, table.createdAt, table.id),
    index('scim_tokens_done').on(sql`least(revoked_at, expires_at)`, table.id),
  ],
)

/** A provider's id of a user. A user without a row has not been pushed yet. */
export const scimUsers = pgTable(
  'scim_users',
  (t) => ({
    userId: partOf('user_id', () => users.id).primaryKey(),
    domainId: domainId().references(() => domains.id),
    userName: t.text('user_name').notNull(),
    externalId: t.text('external_id'),
    /** When the provider deleted the user, who is kept as a record. */
    deletedAt: moment('deleted_at'),
  }),
  (table) => [
    uniqueIndex('scim_users_name')
      .on(table.domainId, sql`lower(${table.userName})`)
      .where(sql`${table.deletedAt} is null`),
    index('scim_users_external').on(table.domainId, table.externalId),
  ],
)

/** A provider's id of a group. */
export const scimGroups = pgTable(
  'scim_groups',
  (t) => ({
    groupId: partOf('group_id', () => groups.id).primaryKey(),
    domainId: domainId().references(() => domains.id),
    externalId: t.text('external_id'),
    /** When the provider deleted the group. It is kept empty, because settings may name it. */
    deletedAt: moment('deleted_at'),
  }),
  (table) => [index('scim_groups_external').on(table.domainId, table.externalId)],
)
