/** What the hosts of a deployment must agree on. */
import { pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import { createdAt, number } from './columns.ts'

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
