/** Outcomes of the calls of each minute, by host. Kept for some days (core/retention). */
import { sql } from 'drizzle-orm'
import { bigint, index, integer, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import { domainId, moment } from './columns.ts'
import { domains } from './people.ts'

const count = (name: string) => integer(name).notNull().default(0)
const bytes = (name: string) => bigint(name, { mode: 'number' }).notNull().default(0)

export const callMinutes = pgTable(
  'call_minutes',
  (t) => ({
    id: t.bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    minute: moment('minute').notNull(),
    connector: t.text('connector').notNull(),
    capability: t.text('capability').notNull(),
    /** Host process that counted the calls. */
    host: t.uuid('host').notNull(),
    calls: t.integer('calls').notNull(),
    /** Failed calls, by the party at fault. */
    byCaller: count('by_caller'),
    byConnector: count('by_connector'),
    byProvider: count('by_provider'),
    byOperator: count('by_operator'),
    byRuntime: count('by_runtime'),
    /** Number of calls by duration. The bounds are in contract/models/call-minutes.ts. */
    buckets: t.integer('buckets').array().notNull(),
    requests: count('requests'),
    sentBytes: bytes('sent_bytes'),
    receivedBytes: bytes('received_bytes'),
    /** Upstream host -> number of requests sent to it, and number refused. */
    upstream: t
      .jsonb('upstream')
      .$type<Record<string, [sent: number, refused: number]>>()
      .notNull()
      .default(sql`'{}'`),
  }),
  (table) => [
    uniqueIndex('call_minutes_of').on(
      table.domainId,
      table.connector,
      table.minute,
      table.capability,
      table.host,
    ),
    index('call_minutes_minute').on(table.domainId, table.minute),
  ],
)
