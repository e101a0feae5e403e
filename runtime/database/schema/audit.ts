/** The activity log: who did what, and the outcome. Rows are only ever added. */
import { sql } from 'drizzle-orm'
import { check, index, pgTable } from 'drizzle-orm/pg-core'
import { bytes, domainId, number } from './columns.ts'
import { domains } from './people.ts'

/**
 * The chain. Its ids are assigned under a lock, in the order of the chain: no row can appear before one
 * already read.
 */
export const activityLogs = pgTable(
  'activity_logs',
  (t) => ({
    id: t.bigserial('id', { mode: 'bigint' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    /** 128 hex digits: a digest of the row and of the previous one. */
    eventHash: t.text('event_hash').notNull(),
    eventType: t.text('event_type').notNull(),
    outcome: t.text('outcome', { enum: ['Succeeded', 'Failed'] }).notNull(),
    actor: t.jsonb('actor').$type<Record<string, unknown>>().notNull(),
    targets: t.jsonb('targets').$type<Record<string, unknown>[]>().notNull(),
    metadata: t.jsonb('event_metadata').$type<Record<string, unknown>>().notNull(),
    beganAt: t.timestamp('event_began_at', { withTimezone: true }).notNull().defaultNow(),
  }),
  (table) => [
    index('activity_logs_began').on(table.domainId, table.beganAt, table.id),
    // Activities of an actor, newest first, and activities on a target.
    index('activity_logs_actor').on(
      table.domainId,
      sql`(${table.actor} ->> 'id')`,
      table.beganAt,
      table.id,
    ),
    index('activity_logs_targets').using('gin', sql`${table.targets} jsonb_path_ops`),
  ],
)
export type LogRow = typeof activityLogs.$inferSelect

/**
 * Recorded entries that are not in the chain yet. Writers add them without waiting for each other. The
 * database's `chain_activity` moves them. There is no reference to the domain, because each writer would lock
 * the domain's only row.
 */
export const activityWaiting = pgTable(
  'activity_waiting',
  (t) => ({
    id: t.bigserial('id', { mode: 'bigint' }).primaryKey(),
    domainId: domainId(),
    /** Input of the hash, as canonical JSON (core/kernel/audit/entry-hash.ts). */
    body: t.text('body').notNull(),
    beganAt: t
      .timestamp('began_at', { withTimezone: true })
      .notNull()
      .default(sql`date_trunc('milliseconds', clock_timestamp())`),
  }),
  // An unreadable entry would keep all later ones out of the chain. It is refused when it is written.
  (table) => [
    check(
      'activity_waiting_reads',
      sql`jsonb_array_length(('[' || ${table.body} || ']')::jsonb) = 6`,
    ),
  ],
)

/**
 * Personal values to which log entries commit (core/kernel/audit/personal.ts). Erasing a person removes
 * theirs.
 */
export const activityPersonal = pgTable(
  'activity_personal',
  (t) => ({
    /** 64 hex digits, as in the entry. */
    commitment: t.text('commitment').primaryKey(),
    domainId: domainId(),
    /** Null if the person is unknown. */
    userId: t.uuid('user_id'),
    salt: bytes('salt').notNull(),
    value: t.jsonb('value').$type<unknown>().notNull(),
  }),
  (table) => [index('activity_personal_user').on(table.userId)],
)

/** Position where the chain of a domain continues after its oldest entries were removed. */
export const activityCheckpoints = pgTable('activity_checkpoints', (t) => ({
  domainId: t
    .uuid('domain_id')
    .primaryKey()
    .references(() => domains.id),
  /** Hash of the last removed entry. */
  eventHash: t.text('event_hash').notNull(),
  /** Number of entries removed so far. */
  rows: number('rows').notNull(),
}))

/**
 * Per domain, the latest time of an entry that is followed by an earlier one, because the clock of the
 * database went back. All entries after that time are in the order of the chain. A trigger maintains it.
 */
export const activityTurns = pgTable('activity_turns', (t) => ({
  domainId: t
    .uuid('domain_id')
    .primaryKey()
    .references(() => domains.id),
  beganAt: t.timestamp('began_at', { withTimezone: true }).notNull(),
}))

/**
 * Entries from which names were removed, while they keep their hashes (core/kernel/audit/redacted.ts). The
 * digest covers the current content of the entry. The digest of a whole batch is in an entry of the chain
 * itself.
 */
export const activityRedactions = pgTable(
  'activity_redactions',
  (t) => ({
    id: t.bigserial('id', { mode: 'bigint' }).primaryKey(),
    domainId: domainId(),
    batch: t.uuid('batch').notNull(),
    eventHash: t.text('event_hash').notNull(),
    digest: t.text('digest').notNull(),
  }),
  (table) => [
    index('activity_redactions_entry').on(table.eventHash),
    index('activity_redactions_batch').on(table.batch),
  ],
)
