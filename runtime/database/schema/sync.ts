/**
 * What syncs bring in in addition to accounts, and the runs that bring it. A row is marked with the number of the
 * last run that saw it (`seen_run`): after a complete run, what has a smaller one is gone.
 *
 * Ids from apps may be of any length, so indexes hold digests of them (test/database/indexed-texts.test.ts).
 */
import { sql } from 'drizzle-orm'
import {
  bigserial,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import {
  type IdentityMapping,
  type MatchRule,
  RUN_STATES,
  SYNC_PHASES,
} from '../../contract/models/sync.ts'
import { apps } from './apps.ts'
import { createdAt, domainId, moment, number, partOf, updatedAt } from './columns.ts'
import { domains, users } from './people.ts'

/** How an app is synced; one without a row has the defaults (core/sync/settings.ts). */
export const syncSettings = pgTable(
  'sync_settings',
  {
    appId: partOf('app_id', () => apps.id).primaryKey(),
    domainId: domainId().references(() => domains.id),
    /** 0: by hand alone. */
    everyHours: integer('every_hours'),
    pageSize: integer('page_size'),
    maxRows: number('max_rows'),
    maxRepeatedPercent: integer('max_repeated_percent'),
    matchRules: jsonb('match_rules').$type<MatchRule[]>().notNull().default([]),
    /** Null for all apps but the one that users are made from. */
    identity: jsonb('identity').$type<IdentityMapping>(),
    /** When the next scheduled run begins; null: a day after the app was made. */
    nextAt: moment('next_at'),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('sync_settings_source')
      .on(table.domainId)
      .where(sql`${table.identity} is not null`),
  ],
)

/** A sync of an app: where it stands, and who carries it out. */
export const syncRuns = pgTable(
  'sync_runs',
  {
    /** Its number: later runs have larger ones. */
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    /** Who asked for it; null for the schedule. */
    userId: uuid('user_id'),
    state: text('state', { enum: RUN_STATES }).notNull().default('RUNNING'),
    phase: text('phase', { enum: SYNC_PHASES }).notNull().default('begin'),
    /** Token of the phase's next page; null: its first. */
    pageToken: text('page_token'),
    /** Up to where a phase has walked that walks our own rows. */
    cursor: text('cursor'),
    /** How often the phase began again. */
    restarts: integer('restarts').notNull().default(0),
    pageSize: integer('page_size').notNull(),
    counts: jsonb('counts').$type<Record<string, number>>().notNull().default({}),
    skipped: text('skipped').array().notNull().default(sql`'{}'`),
    /** Whether an operator said that what vanished is gone indeed. */
    accepted: boolean('accepted').notNull().default(false),
    /** Tries in a row that failed. */
    attempts: integer('attempts').notNull().default(0),
    nextTryAt: moment('next_try_at'),
    /** What went wrong last, without secrets. */
    problem: text('problem'),
    /** The holder of the lease writes; it changes each time the lease is taken. */
    leaseBy: uuid('lease_by'),
    leaseUntil: moment('lease_until'),
    createdAt: createdAt(),
    endedAt: moment('ended_at'),
    /** When a complete run recorded the associations that this one was the first to see; null: none has yet. */
    recordedAt: moment('recorded_at'),
    /** That complete run: this one, or the next. */
    recordedBy: number('recorded_by'),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('sync_runs_running').on(table.appId).where(sql`${table.state} = 'RUNNING'`),
    index('sync_runs_order').on(table.domainId, table.id),
    index('sync_runs_app').on(table.appId, table.id),
    index('sync_runs_ended').on(table.endedAt, table.id).where(sql`${table.endedAt} is not null`),
  ],
)

export const resources = pgTable(
  'resources',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    resourceType: text('resource_type').notNull(),
    /** Its id in the app. */
    externalId: text('external_id').notNull(),
    label: text('label').notNull(),
    seenRun: number('seen_run').notNull(),
    goneAt: moment('gone_at'),
  },
  (table) => [uniqueIndex('resources_external').on(table.appId, sql`md5(${table.externalId})`)],
)

export const entitlements = pgTable(
  'entitlements',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    entitlementType: text('entitlement_type').notNull(),
    /** Empty for the global resource. */
    resourceId: text('resource_id').notNull(),
    /** Its id within the resource. */
    externalId: text('external_id').notNull(),
    label: text('label').notNull(),
    description: text('description').notNull().default(''),
    isAssignable: boolean('is_assignable').notNull(),
    seenRun: number('seen_run').notNull(),
    goneAt: moment('gone_at'),
  },
  (table) => [
    uniqueIndex('entitlements_external').on(
      table.appId,
      sql`md5(${table.resourceId} || chr(1) || ${table.externalId})`,
    ),
    index('entitlements_walk').on(table.appId, table.id),
  ],
)

/**
 * Which account holds which entitlement, and so an open span of the history, since its first run was recorded
 * (core/history/associations.ts). No foreign keys: millions of them are written at once, from rows that are
 * never deleted.
 */
export const associations = pgTable(
  'associations',
  {
    appId: uuid('app_id').notNull(),
    accountId: uuid('account_id').notNull(),
    entitlementId: number('entitlement_id').notNull(),
    seenRun: number('seen_run').notNull(),
    /** The first run that saw it; null where `association_spans` has its open span. */
    firstRun: number('first_run'),
  },
  (table) => [primaryKey({ columns: [table.appId, table.accountId, table.entitlementId] })],
)

/** What the identity source changed of users; added only, by one run at a time. */
export const identityEvents = pgTable(
  'identity_events',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    userId: partOf('user_id', () => users.id),
    detectedAt: moment('detected_at').notNull().defaultNow(),
    changedField: text('changed_field').notNull(),
    oldValue: text('old_value'),
    newValue: text('new_value'),
  },
  (table) => [
    index('identity_events_order').on(table.domainId, table.id),
    index('identity_events_user').on(table.userId, table.id),
  ],
)
