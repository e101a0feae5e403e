/** What happened: who, what, outcome. Rows are only ever added. */
import { bigserial, index, jsonb, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import { domainId } from './columns.ts'
import { domains } from './people.ts'

export const activityLogs = pgTable(
  'activity_logs',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    /** 128 hex digits: a digest of the row and of the one before it. */
    eventHash: text('event_hash').notNull(),
    eventType: text('event_type').notNull(),
    outcome: text('outcome', { enum: ['Succeeded', 'Failed'] }).notNull(),
    actor: jsonb('actor').$type<Record<string, unknown>>().notNull(),
    targets: jsonb('targets').$type<Record<string, unknown>[]>().notNull(),
    metadata: jsonb('event_metadata').$type<Record<string, unknown>>().notNull(),
    beganAt: timestamp('event_began_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [index('activity_logs_began').on(table.domainId, table.beganAt, table.id)],
)
