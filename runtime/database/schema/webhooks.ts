/** How far the activity log was delivered to the webhooks of type SIEM. */
import { bigint, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { inlineWebhooks } from './app_store.ts'
import { domainId, moment, partOf } from './columns.ts'
import { domains } from './people.ts'

/** One row per webhook of type SIEM; apart from it, because it changes with every event. */
export const eventFeeds = pgTable(
  'event_feeds',
  {
    webhookId: partOf('webhook_id', () => inlineWebhooks.id).primaryKey(),
    domainId: domainId().references(() => domains.id),
    /** Of the last row of the log that was taken. */
    deliveredId: bigint('delivered_id', { mode: 'bigint' }).notNull(),
    /** Null while it works. */
    failingSince: moment('failing_since'),
    /** Failures in a row. */
    attempts: integer('attempts').notNull().default(0),
    /** Not before; null for at once. */
    nextTryAt: moment('next_try_at'),
    /** What failed last, without secrets. */
    problem: text('problem'),
    /** When a task was opened about it, since it last worked. */
    toldAt: moment('told_at'),
  },
  (table) => [index('event_feeds_next').on(table.nextTryAt)],
)
