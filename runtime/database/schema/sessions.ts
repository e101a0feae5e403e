/** Who is signed in to the settings pages, and the links that sign a user in. Only keyed hashes are kept. */
import { sql } from 'drizzle-orm'
import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, domainId, id, moment, partOf } from './columns.ts'
import { apiTokens, domains, users } from './people.ts'

export const sessions = pgTable(
  'sessions',
  {
    id: id(),
    domainId: domainId().references(() => domains.id),
    userId: partOf('user_id', () => users.id),
    /** The token that it was begun with, or that made its link; it ends with that. */
    tokenId: uuid('token_id').references(() => apiTokens.id, { onDelete: 'cascade' }),
    /** Id of the sign-in provider that let the person in; null for a token or a link. */
    provider: text('provider'),
    hash: bytes('hash').notNull(),
    /** Id of the secret that made the hash (secrets/key-derivation.ts). */
    keyId: text('key_id'),
    expiresAt: moment('expires_at').notNull(),
    /** When a page was last asked for by it, to the minute. */
    usedAt: moment('used_at').notNull().defaultNow(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('sessions_hash').on(table.hash),
    index('sessions_expires').on(table.expiresAt, table.id),
    index('sessions_token').on(table.tokenId).where(sql`${table.tokenId} is not null`),
  ],
)

/** A row is gone once its link was used. */
export const loginLinks = pgTable(
  'login_links',
  {
    id: id(),
    domainId: domainId().references(() => domains.id),
    userId: partOf('user_id', () => users.id),
    /** The token that made it, and that it ends with. */
    tokenId: uuid('token_id').references(() => apiTokens.id, { onDelete: 'cascade' }),
    hash: bytes('hash').notNull(),
    /** Id of the secret that made the hash (secrets/key-derivation.ts). */
    keyId: text('key_id'),
    expiresAt: moment('expires_at').notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('login_links_hash').on(table.hash),
    index('login_links_expires').on(table.expiresAt, table.id),
    index('login_links_token').on(table.tokenId).where(sql`${table.tokenId} is not null`),
  ],
)
