/** State on which the hosts of a deployment must agree. */
import { index, pgTable, primaryKey } from 'drizzle-orm/pg-core'
import { bytes, createdAt, domainId, moment, number } from './columns.ts'
import { domains } from './people.ts'

/**
 * Secrets with which hosts have started. `current` is the newest. `replaced <key id>` was the newest before.
 * `behind` is when a live host last wrote with another secret than the newest.
 */
export const deploymentSecret = pgTable('deployment_secret', (t) => ({
  name: t.text('name').primaryKey(),
  /** Id of the secret (secrets/key-derivation.ts), from which the secret cannot be derived. */
  keyId: t.text('key_id').notNull(),
  since: t.timestamp('since', { withTimezone: true }).notNull().defaultNow(),
}))

/** Versions of Keyway that brought the database to each migration. */
export const deploymentVersions = pgTable('deployment_versions', (t) => ({
  /** When the newest migration was written, according to the journal of migrations. */
  migratedTo: number('migrated_to').primaryKey(),
  /** First version of Keyway with this migration. */
  version: t.text('version').notNull(),
  createdAt: createdAt(),
}))

/**
 * Answers for which several hosts wait together: the host that finds the answer and, for a moment, the answer
 * itself.
 */
export const sharedAnswers = pgTable(
  'shared_answers',
  (t) => ({
    /** Digest of the question. */
    key: t.text('key').primaryKey(),
    /** Host that finds the answer. */
    finder: t.uuid('finder').notNull(),
    /** Sealed answer. Null until it is found. */
    answer: bytes('answer'),
    /** Until then hosts wait for the finder, and the answer is valid. */
    until: moment('until').notNull(),
  }),
  (table) => [index('shared_answers_until').on(table.until, table.key)],
)

/**
 * Newest index seen at each registry that is a folder of files. An older index is refused, whichever trusted
 * key signed it.
 */
export const registryIndexes = pgTable(
  'registry_indexes',
  (t) => ({
    domainId: domainId().references(() => domains.id),
    /** Address of the registry in its canonical form. */
    registry: t.text('registry').notNull(),
    /** Id of the signing key. */
    key: t.text('key').notNull(),
    version: number('version').notNull(),
    seenAt: moment('seen_at').notNull().defaultNow(),
  }),
  (table) => [primaryKey({ columns: [table.domainId, table.registry, table.key] })],
)

/** Newest index seen by key: from before registries were distinguished, and from callers that name none. */
export const publishedIndexes = pgTable(
  'published_indexes',
  (t) => ({
    domainId: domainId().references(() => domains.id),
    /** Id of the signing key. */
    key: t.text('key').notNull(),
    version: number('version').notNull(),
    seenAt: moment('seen_at').notNull().defaultNow(),
  }),
  (table) => [primaryKey({ columns: [table.domainId, table.key] })],
)
