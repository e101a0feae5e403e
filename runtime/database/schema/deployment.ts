/** What the hosts of a deployment must agree on. */
import { index, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, domainId, moment, number } from './columns.ts'
import { domains } from './people.ts'

/**
 * Which secrets hosts have started with. `current` is the newest; `replaced <key id>` one that was the newest
 * before; `behind` is when a live host last wrote with another one than the newest.
 */
export const deploymentSecret = pgTable('deployment_secret', {
  name: text('name').primaryKey(),
  /** Its id (secrets/key-derivation.ts), from which the secret cannot be found. */
  keyId: text('key_id').notNull(),
  since: timestamp('since', { withTimezone: true }).notNull().defaultNow(),
})

/** Which version of Keyway brought the database to which migration. */
export const deploymentVersions = pgTable('deployment_versions', {
  /** When the newest migration was written, as the journal of migrations has it. */
  migratedTo: number('migrated_to').primaryKey(),
  /** The first version of Keyway that had it. */
  version: text('version').notNull(),
  createdAt: createdAt(),
})

/** Answers that several hosts wait for together: who finds one, and for a moment the answer itself. */
export const sharedAnswers = pgTable(
  'shared_answers',
  {
    /** A digest of the question. */
    key: text('key').primaryKey(),
    /** Who finds the answer. */
    finder: uuid('finder').notNull(),
    /** Sealed; null until it is found. */
    answer: bytes('answer'),
    /** Until then the finder is waited for, and the answer is good. */
    until: moment('until').notNull(),
  },
  (table) => [index('shared_answers_until').on(table.until, table.key)],
)

/**
 * Of registries that are folders of files, the newest index that was seen at each: an older one is refused, whichever
 * trusted key signed it.
 */
export const registryIndexes = pgTable(
  'registry_indexes',
  {
    domainId: domainId().references(() => domains.id),
    /** Its address as operators name it, in its one spelling. */
    registry: text('registry').notNull(),
    /** Id of the key that signed it. */
    key: text('key').notNull(),
    version: number('version').notNull(),
    seenAt: moment('seen_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.domainId, table.registry, table.key] })],
)

/** The same by key: what was seen before registries were told apart, and by callers that do not name theirs. */
export const publishedIndexes = pgTable(
  'published_indexes',
  {
    domainId: domainId().references(() => domains.id),
    /** Id of the key that signed it. */
    key: text('key').notNull(),
    version: number('version').notNull(),
    seenAt: moment('seen_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.domainId, table.key] })],
)
