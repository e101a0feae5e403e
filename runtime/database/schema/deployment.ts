/** What the hosts of a deployment must agree on. */
import { pgTable, text, timestamp } from 'drizzle-orm/pg-core'

/** One row: which secret is the newest that a host has started with. */
export const deploymentSecret = pgTable('deployment_secret', {
  /** Always `current`: there is one. */
  name: text('name').primaryKey(),
  /** A fingerprint (core/deployment.ts), from which the secret cannot be found. */
  keyId: text('key_id').notNull(),
  since: timestamp('since', { withTimezone: true }).notNull().defaultNow(),
})
