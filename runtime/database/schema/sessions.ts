/** Sessions of the settings pages, and the links that sign a user in. Only keyed hashes are stored. */
import { sql } from 'drizzle-orm'
import { index, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytes, createdAt, domainId, id, moment, partOf } from './columns.ts'
import { apiTokens, domains, users } from './people.ts'

export const sessions = pgTable(
  'sessions',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    userId: partOf('user_id', () => users.id),
    /** Token that began the session or made its link. The session ends with it. */
    tokenId: t.uuid('token_id').references(() => apiTokens.id, { onDelete: 'cascade' }),
    /** Id of the sign-in provider. Null for a token or a link. */
    provider: t.text('provider'),
    hash: bytes('hash').notNull(),
    /** Id of the secret that made the hash (secrets/key-derivation.ts). */
    keyId: t.text('key_id'),
    expiresAt: moment('expires_at').notNull(),
    /** Time of the last page request, to the minute. */
    usedAt: moment('used_at').notNull().defaultNow(),
    createdAt: createdAt(),
  }),
  (table) => [
    uniqueIndex('sessions_hash').on(table.hash),
    index('sessions_expires').on(table.expiresAt, table.id),
    index('sessions_token').on(table.tokenId).where(sql`${table.tokenId} is not null`),
  ],
)

/** Sign-in links. A row is removed when its link is used. */
export const loginLinks = pgTable(
  'login_links',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    userId: partOf('user_id', () => users.id),
    /** Token that made the link. The link ends with it. */
    tokenId: t.uuid('token_id').references(() => apiTokens.id, { onDelete: 'cascade' }),
    hash: bytes('hash').notNull(),
    /** Id of the secret that made the hash (secrets/key-derivation.ts). */
    keyId: t.text('key_id'),
    expiresAt: moment('expires_at').notNull(),
    createdAt: createdAt(),
  }),
  (table) => [
    uniqueIndex('login_links_hash').on(table.hash),
    index('login_links_expires').on(table.expiresAt, table.id),
    index('login_links_token').on(table.tokenId).where(sql`${table.tokenId} is not null`),
  ],
)
