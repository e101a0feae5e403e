/** Delivery of the activity log to the webhooks of type SIEM. */
import { index, pgTable } from 'drizzle-orm/pg-core'
import { inlineWebhooks } from './app_store.ts'
import { domainId, moment, partOf } from './columns.ts'
import { domains } from './people.ts'

/** One row per webhook of type SIEM. Separate from the webhook, because it changes with every event. */
export const eventFeeds = pgTable(
  'event_feeds',
  (t) => ({
    webhookId: partOf('webhook_id', () => inlineWebhooks.id).primaryKey(),
    domainId: domainId().references(() => domains.id),
    /** Id of the last delivered row of the log. */
    deliveredId: t.bigint('delivered_id', { mode: 'bigint' }).notNull(),
    /** Null while it works. */
    failingSince: moment('failing_since'),
    /** Consecutive failures. */
    attempts: t.integer('attempts').notNull().default(0),
    /** Earliest time of the next attempt. Null: at once. */
    nextTryAt: moment('next_try_at'),
    /** Description of the last failure, without secrets. */
    problem: t.text('problem'),
    /** When a task about it was opened since it last worked. */
    toldAt: moment('told_at'),
  }),
  (table) => [index('event_feeds_next').on(table.nextTryAt)],
)
