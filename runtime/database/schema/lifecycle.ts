/** What is installed: packages, the generations that say which of them serve, and the hosts that follow. */
import { index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import type { Action, InstalledConnector, Publisher } from '../../contract/endpoints/generation.ts'
import { bytes, domainId, moment, number } from './columns.ts'
import { domains } from './people.ts'

/** Every host takes its packages from here; a digest names its content. */
export const packages = pgTable(
  'packages',
  {
    domainId: domainId().references(() => domains.id),
    digest: text('digest').notNull(),
    /** The connector's id in its one spelling. */
    connector: text('connector').notNull(),
    version: text('version').notNull(),
    packed: bytes('packed').notNull(),
    /** `digests.json`: what a signature is over. */
    digestsText: text('digests_text').notNull(),
    signature: text('signature'),
    uploadedAt: moment('uploaded_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.domainId, table.digest] }),
    index('packages_connector').on(table.domainId, table.connector, table.version),
  ],
)

/** What a generation says of one connector, once for all generations that say the same. */
export const installedStates = pgTable('installed_states', {
  digest: text('digest').primaryKey(),
  state: jsonb('state').$type<InstalledConnector>().notNull(),
})

/** Never changed once it is there: each is the whole of what is installed. */
export const generations = pgTable(
  'generations',
  {
    domainId: domainId().references(() => domains.id),
    number: integer('number').notNull(),
    at: moment('at').notNull().defaultNow(),
    userId: uuid('user_id').notNull(),
    by: text('by').notNull(),
    action: text('action').$type<Action>().notNull(),
    reason: text('reason').notNull(),
    /** Connector to the digest of its state. */
    connectors: jsonb('connectors').$type<Record<string, string>>().notNull(),
    publishers: jsonb('publishers').$type<Publisher[]>().notNull(),
    difference: jsonb('difference').$type<string[]>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.domainId, table.number] })],
)

/** One row for each host process; it goes when the host is gone for long. */
export const nodes = pgTable('nodes', {
  id: uuid('id').primaryKey(),
  domainId: domainId().references(() => domains.id),
  generation: number('generation').notNull(),
  problems: jsonb('problems').$type<string[]>().notNull(),
  /** Ids of the host's secrets, newest first; none of a version that did not say so. */
  keyIds: jsonb('key_ids').$type<string[]>(),
  seenAt: moment('seen_at').notNull().defaultNow(),
})

/** Credentials that a new version is tried with before calls go to it; sealed. */
export const probes = pgTable(
  'probes',
  {
    domainId: domainId().references(() => domains.id),
    connector: text('connector').notNull(),
    sealed: bytes('sealed').notNull(),
  },
  (table) => [primaryKey({ columns: [table.domainId, table.connector] })],
)
