/** What happened: who, what, outcome. Rows are only ever added. */
import { sql } from 'drizzle-orm'
import { bigserial, check, index, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { bytes, domainId, number } from './columns.ts'
import { domains } from './people.ts'

/** The chain. Its ids are given under a lock, in the order of the chain: no row appears before one that was read. */
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
  (table) => [
    index('activity_logs_began').on(table.domainId, table.beganAt, table.id),
    // What somebody did, newest first, and what was done to somebody or something.
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
 * Entries that were recorded and are not in the chain yet. Writers add them without waiting for each other; the
 * database's `chain_activity` moves them. No reference to the domain: each writer would lock the one row of it.
 */
export const activityWaiting = pgTable(
  'activity_waiting',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    domainId: domainId(),
    /** What the hash will cover, as canonical JSON (core/kernel/audit/entry-hash.ts). */
    body: text('body').notNull(),
    beganAt: timestamp('began_at', { withTimezone: true })
      .notNull()
      .default(sql`date_trunc('milliseconds', clock_timestamp())`),
  },
  // An entry that cannot be read would keep all later ones from the chain: it is refused when it is written.
  (table) => [
    check(
      'activity_waiting_reads',
      sql`jsonb_array_length(('[' || ${table.body} || ']')::jsonb) = 6`,
    ),
  ],
)

/** Personal values that entries of the log commit to (core/kernel/audit/personal.ts); erasing a person removes theirs. */
export const activityPersonal = pgTable(
  'activity_personal',
  {
    /** 64 hex digits, as the entry has them. */
    commitment: text('commitment').primaryKey(),
    domainId: domainId(),
    /** Null where it is not known whose it is. */
    userId: uuid('user_id'),
    salt: bytes('salt').notNull(),
    value: jsonb('value').$type<unknown>().notNull(),
  },
  (table) => [index('activity_personal_user').on(table.userId)],
)

/** Where the chain of a domain goes on since its oldest entries were removed. */
export const activityCheckpoints = pgTable('activity_checkpoints', {
  domainId: uuid('domain_id')
    .primaryKey()
    .references(() => domains.id),
  /** Of the last entry that was removed. */
  eventHash: text('event_hash').notNull(),
  /** Entries that were removed so far. */
  rows: number('rows').notNull(),
})

/**
 * Per domain, the latest moment of an entry that is followed by an earlier one, because the clock of the database went
 * back. All entries after that moment are in the order of the chain. A trigger keeps it.
 */
export const activityTurns = pgTable('activity_turns', {
  domainId: uuid('domain_id')
    .primaryKey()
    .references(() => domains.id),
  beganAt: timestamp('began_at', { withTimezone: true }).notNull(),
})

/**
 * Entries out of which names were taken, which keep their hashes (core/kernel/audit/redacted.ts). What each says since is
 * in its digest, and the digest of all of one batch is in an entry of the chain itself.
 */
export const activityRedactions = pgTable(
  'activity_redactions',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    domainId: domainId(),
    batch: uuid('batch').notNull(),
    eventHash: text('event_hash').notNull(),
    digest: text('digest').notNull(),
  },
  (table) => [
    index('activity_redactions_entry').on(table.eventHash),
    index('activity_redactions_batch').on(table.batch),
  ],
)
