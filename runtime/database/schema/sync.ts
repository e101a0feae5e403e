/**
 * Data of syncs in addition to accounts, and the runs that collect it. A row is marked with the id of the
 * last run that saw it (`seen_run`). After a complete run, rows with a smaller one are missing from the app.
 *
 * Ids from apps may be of any length, so indexes hold digests of them (test/database/indexed-texts.test.ts).
 */
import { sql } from 'drizzle-orm'
import { index, pgTable, primaryKey, uniqueIndex } from 'drizzle-orm/pg-core'
import {
  type IdentityMapping,
  type MatchRule,
  RUN_STATES,
  SYNC_PHASES,
} from '../../contract/models/sync.ts'
import { apps } from './apps.ts'
import { createdAt, domainId, moment, number, partOf, updatedAt } from './columns.ts'
import { domains, users } from './people.ts'

/** Sync settings of an app. An app without a row has the defaults (core/sync/settings.ts). */
export const syncSettings = pgTable(
  'sync_settings',
  (t) => ({
    appId: partOf('app_id', () => apps.id).primaryKey(),
    domainId: domainId().references(() => domains.id),
    /** 0: only manually. */
    everyHours: t.integer('every_hours'),
    pageSize: t.integer('page_size'),
    maxRows: number('max_rows'),
    maxRepeatedPercent: t.integer('max_repeated_percent'),
    matchRules: t.jsonb('match_rules').$type<MatchRule[]>().notNull().default([]),
    /** Null for all apps but the one from which users are created. */
    identity: t.jsonb('identity').$type<IdentityMapping>(),
    /** Start of the next scheduled run. Null: a day after the app was created. */
    nextAt: moment('next_at'),
    updatedAt: updatedAt(),
  }),
  (table) => [
    uniqueIndex('sync_settings_source')
      .on(table.domainId)
      .where(sql`${table.identity} is not null`),
  ],
)

/** A sync of an app: its position, and the host that carries it out. */
export const syncRuns = pgTable(
  'sync_runs',
  (t) => ({
    /** Later runs have larger ids. */
    id: t.bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    /** Person who requested it. Null for the schedule. */
    userId: t.uuid('user_id'),
    state: t.text('state', { enum: RUN_STATES }).notNull().default('RUNNING'),
    phase: t.text('phase', { enum: SYNC_PHASES }).notNull().default('begin'),
    /** Token of the phase's next page. Null for the first. */
    pageToken: t.text('page_token'),
    /** Position of a phase that reads our own rows. */
    cursor: t.text('cursor'),
    /** Number of restarts of the phase. */
    restarts: t.integer('restarts').notNull().default(0),
    pageSize: t.integer('page_size').notNull(),
    counts: t.jsonb('counts').$type<Record<string, number>>().notNull().default({}),
    skipped: t.text('skipped').array().notNull().default(sql`'{}'`),
    /** Whether an operator confirmed that missing rows are really gone. */
    accepted: t.boolean('accepted').notNull().default(false),
    /** Consecutive failed attempts. */
    attempts: t.integer('attempts').notNull().default(0),
    nextTryAt: moment('next_try_at'),
    /** Description of the last failure, without secrets. */
    problem: t.text('problem'),
    /** Holder of the lease, the only writer. Changes each time the lease is taken. */
    leaseBy: t.uuid('lease_by'),
    leaseUntil: moment('lease_until'),
    createdAt: createdAt(),
    endedAt: moment('ended_at'),
    /** When a complete run recorded the associations first seen by this run. Null: none has yet. */
    recordedAt: moment('recorded_at'),
    /** That complete run: this one, or the next. */
    recordedBy: number('recorded_by'),
    updatedAt: updatedAt(),
  }),
  (table) => [
    uniqueIndex('sync_runs_running').on(table.appId).where(sql`${table.state} = 'RUNNING'`),
    index('sync_runs_order').on(table.domainId, table.id),
    index('sync_runs_app').on(table.appId, table.id),
    index('sync_runs_ended').on(table.endedAt, table.id).where(sql`${table.endedAt} is not null`),
  ],
)

export const resources = pgTable(
  'resources',
  (t) => ({
    id: t.bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    resourceType: t.text('resource_type').notNull(),
    /** Id in the app. */
    externalId: t.text('external_id').notNull(),
    label: t.text('label').notNull(),
    seenRun: number('seen_run').notNull(),
    goneAt: moment('gone_at'),
  }),
  (table) => [uniqueIndex('resources_external').on(table.appId, sql`md5(${table.externalId})`)],
)

export const entitlements = pgTable(
  'entitlements',
  (t) => ({
    id: t.bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    entitlementType: t.text('entitlement_type').notNull(),
    /** Empty for the global resource. */
    resourceId: t.text('resource_id').notNull(),
    /** Id within the resource. */
    externalId: t.text('external_id').notNull(),
    label: t.text('label').notNull(),
    description: t.text('description').notNull().default(''),
    isAssignable: t.boolean('is_assignable').notNull(),
    seenRun: number('seen_run').notNull(),
    goneAt: moment('gone_at'),
  }),
  (table) => [
    uniqueIndex('entitlements_external').on(
      table.appId,
      sql`md5(${table.resourceId} || chr(1) || ${table.externalId})`,
    ),
    index('entitlements_walk').on(table.appId, table.id),
  ],
)

/**
 * Entitlements held by accounts. Once its first run is recorded, a row is an open span of the history
 * (core/history/association-spans.ts). There are no foreign keys: millions of rows are written at once, from rows
 * that are never deleted.
 */
export const associations = pgTable(
  'associations',
  (t) => ({
    appId: t.uuid('app_id').notNull(),
    accountId: t.uuid('account_id').notNull(),
    entitlementId: number('entitlement_id').notNull(),
    seenRun: number('seen_run').notNull(),
    /** First run that saw it. Null if `association_spans` has its open span. */
    firstRun: number('first_run'),
  }),
  (table) => [primaryKey({ columns: [table.appId, table.accountId, table.entitlementId] })],
)

/** Changes to users by the identity source. Rows are only added, by one run at a time. */
export const identityEvents = pgTable(
  'identity_events',
  (t) => ({
    id: t.bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    userId: partOf('user_id', () => users.id),
    detectedAt: moment('detected_at').notNull().defaultNow(),
    changedField: t.text('changed_field').notNull(),
    oldValue: t.text('old_value'),
    newValue: t.text('new_value'),
  }),
  (table) => [
    index('identity_events_order').on(table.domainId, table.id),
    index('identity_events_user').on(table.userId, table.id),
  ],
)
