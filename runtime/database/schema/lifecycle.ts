/**
 * Installed connectors: packages, the generations that select the serving ones, and the hosts that follow
 * them.
 */
import { index, pgTable, primaryKey } from 'drizzle-orm/pg-core'
import type { Action, InstalledConnector, Publisher } from '../../contract/endpoints/generation.ts'
import { bytes, domainId, moment, number } from './columns.ts'
import { domains } from './people.ts'

/** Packages. Every host takes them from here. A digest identifies the content. */
export const packages = pgTable(
  'packages',
  (t) => ({
    domainId: domainId().references(() => domains.id),
    digest: t.text('digest').notNull(),
    /** Id of the connector in its canonical form. */
    connector: t.text('connector').notNull(),
    version: t.text('version').notNull(),
    packed: bytes('packed').notNull(),
    /** `digests.json`, the signed text. */
    digestsText: t.text('digests_text').notNull(),
    signature: t.text('signature'),
    uploadedAt: moment('uploaded_at').notNull().defaultNow(),
  }),
  (table) => [
    primaryKey({ columns: [table.domainId, table.digest] }),
    index('packages_connector').on(table.domainId, table.connector, table.version),
  ],
)

/** State of one connector, shared by all generations with the same state. */
export const installedStates = pgTable('installed_states', (t) => ({
  digest: t.text('digest').primaryKey(),
  state: t.jsonb('state').$type<InstalledConnector>().notNull(),
}))

/** Generations, never changed once written. Each describes all installed connectors. */
export const generations = pgTable(
  'generations',
  (t) => ({
    domainId: domainId().references(() => domains.id),
    number: t.integer('number').notNull(),
    at: moment('at').notNull().defaultNow(),
    userId: t.uuid('user_id').notNull(),
    by: t.text('by').notNull(),
    action: t.text('action').$type<Action>().notNull(),
    reason: t.text('reason').notNull(),
    /** Connector -> digest of its state. */
    connectors: t.jsonb('connectors').$type<Record<string, string>>().notNull(),
    publishers: t.jsonb('publishers').$type<Publisher[]>().notNull(),
    difference: t.jsonb('difference').$type<string[]>().notNull(),
  }),
  (table) => [primaryKey({ columns: [table.domainId, table.number] })],
)

/** Host processes. A row is removed when its host has been away for long. */
export const nodes = pgTable('nodes', (t) => ({
  id: t.uuid('id').primaryKey(),
  domainId: domainId().references(() => domains.id),
  generation: number('generation').notNull(),
  problems: t.jsonb('problems').$type<string[]>().notNull(),
  /** Ids of the host's secrets, newest first. Null for a version that did not record them. */
  keyIds: t.jsonb('key_ids').$type<string[]>(),
  seenAt: moment('seen_at').notNull().defaultNow(),
}))

/** Sealed credentials with which a new version is tried before it receives calls. */
export const probes = pgTable(
  'probes',
  (t) => ({
    domainId: domainId().references(() => domains.id),
    connector: t.text('connector').notNull(),
    sealed: bytes('sealed').notNull(),
  }),
  (table) => [primaryKey({ columns: [table.domainId, table.connector] })],
)
