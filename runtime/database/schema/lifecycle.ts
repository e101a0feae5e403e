/**
 * Installed connectors: packages, the generations that select the serving ones, and the hosts that follow
 * them.
 */
import { index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import type { Action, InstalledConnector, Publisher } from '../../contract/endpoints/generation.ts'
import { bytes, domainId, moment, number } from './columns.ts'
import { domains } from './people.ts'

/** Packages. Every host takes them from here. A digest identifies the content. */
export const packages = pgTable(
  'packages',
  {
    domainId: domainId().references(() => domains.id),
    digest: text('digest').notNull(),
    /** Id of the connector in its canonical form. */
    connector: text('connector').notNull(),
    version: text('version').notNull(),
    packed: bytes('packed').notNull(),
    /** `digests.json`, the signed text. */
    digestsText: text('digests_text').notNull(),
    signature: text('signature'),
    uploadedAt: moment('uploaded_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.domainId, table.digest] }),
    index('packages_connector').on(table.domainId, table.connector, table.version),
  ],
)

/** State of one connector, shared by all generations with the same state. */
export const installedStates = pgTable('installed_states', {
  digest: text('digest').primaryKey(),
  state: jsonb('state').$type<InstalledConnector>().notNull(),
})

/** Generations, never changed once written. Each describes all installed connectors. */
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
    /** Connector -> digest of its state. */
    connectors: jsonb('connectors').$type<Record<string, string>>().notNull(),
    publishers: jsonb('publishers').$type<Publisher[]>().notNull(),
    difference: jsonb('difference').$type<string[]>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.domainId, table.number] })],
)

/** Host processes. A row is removed when its host has been away for long. */
export const nodes = pgTable('nodes', {
  id: uuid('id').primaryKey(),
  domainId: domainId().references(() => domains.id),
  generation: number('generation').notNull(),
  problems: jsonb('problems').$type<string[]>().notNull(),
  /** Ids of the host's secrets, newest first. Null for a version that did not record them. */
  keyIds: jsonb('key_ids').$type<string[]>(),
  seenAt: moment('seen_at').notNull().defaultNow(),
})

/** Sealed credentials with which a new version is tried before it receives calls. */
export const probes = pgTable(
  'probes',
  {
    domainId: domainId().references(() => domains.id),
    connector: text('connector').notNull(),
    sealed: bytes('sealed').notNull(),
  },
  (table) => [primaryKey({ columns: [table.domainId, table.connector] })],
)
