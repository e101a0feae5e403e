/**
 * What was held when: a span for each account, association, group membership and reason, from `since` until
 * just before `until` (null: still so). Spans are written only when something changes: how far an open one is
 * confirmed is said by the latest complete sync of its app. Runs are numbers of `sync_runs`, null where no
 * sync found it (an import, an upload, a request, or what was held when the history began).
 *
 * No foreign keys: millions of spans are written at once, and they outlive what they describe.
 */
import { sql } from 'drizzle-orm'
import {
  bigserial,
  boolean,
  index,
  jsonb,
  pgTable,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { ACCOUNT_STATUSES, ACCOUNT_TYPES } from '../../contract/models/app.ts'
import { domainId, moment, number } from './columns.ts'
import type { EntitlementRef } from './requests.ts'

/** One row: since when it is known what was held. */
export const historyStart = pgTable('history_start', {
  id: boolean('id').primaryKey().default(true),
  since: moment('since').notNull().defaultNow(),
})

/** Orders spans that nothing else orders. No index of their own for those that millions are written of. */
const spanNumber = () => bigserial('id', { mode: 'number' })

const span = () => ({
  domainId: domainId(),
  since: moment('since').notNull(),
  until: moment('until'),
})

const runs = () => ({
  /** The first complete run that saw it. */
  firstRun: number('first_run'),
  /** The last complete run that saw it; null while it is open: the app's latest complete run. */
  lastRun: number('last_run'),
  /** The first complete run that did not see it. */
  goneRun: number('gone_run'),
})

/** An account as it was: one that changes its person, state or address has a span for each. */
export const accountSpans = pgTable(
  'account_spans',
  {
    id: spanNumber(),
    ...span(),
    ...runs(),
    appId: uuid('app_id').notNull(),
    accountId: uuid('account_id').notNull(),
    userId: uuid('user_id'),
    uniqueIdentifier: text('unique_identifier').notNull(),
    accountType: text('account_type', { enum: ACCOUNT_TYPES }).notNull(),
    status: text('status', { enum: ACCOUNT_STATUSES }),
    email: text('email'),
  },
  (table) => [
    uniqueIndex('account_spans_open').on(table.accountId).where(sql`${table.until} is null`),
    index('account_spans_order').on(
      table.domainId,
      table.appId,
      table.uniqueIdentifier,
      table.since,
      table.id,
    ),
    index('account_spans_user')
      .on(table.userId, table.since)
      .where(sql`${table.userId} is not null`),
    index('account_spans_ended').on(table.until, table.id).where(sql`${table.until} is not null`),
  ],
)

/** Associations that were held. What is still held is a row of `associations`: its open span (core/history/associations.ts). */
export const associationSpans = pgTable(
  'association_spans',
  {
    id: spanNumber(),
    ...span(),
    ...runs(),
    appId: uuid('app_id').notNull(),
    accountId: uuid('account_id').notNull(),
    entitlementId: number('entitlement_id').notNull(),
  },
  (table) => [
    // The only index of an open span: ask with its domain, its app and its account. One of a pair is open at most.
    unique('association_spans_held')
      .on(table.domainId, table.appId, table.accountId, table.entitlementId, table.until)
      .nullsNotDistinct(),
    index('association_spans_ended')
      .on(table.until, table.id)
      .where(sql`${table.until} is not null`),
  ],
)

/** Who was in which group. */
export const memberSpans = pgTable(
  'member_spans',
  {
    id: spanNumber().primaryKey(),
    ...span(),
    ...runs(),
    groupId: uuid('group_id').notNull(),
    userId: uuid('user_id').notNull(),
  },
  (table) => [
    uniqueIndex('member_spans_open')
      .on(table.groupId, table.userId)
      .where(sql`${table.until} is null`),
    index('member_spans_user').on(table.userId, table.since),
    index('member_spans_ended').on(table.until, table.id).where(sql`${table.until} is not null`),
  ],
)

/** Why a user had something: from when a request gave it until it was taken back. */
export const reasonSpans = pgTable(
  'reason_spans',
  {
    id: spanNumber().primaryKey(),
    ...span(),
    userId: uuid('user_id').notNull(),
    requestId: uuid('request_id').notNull(),
    /** The policy that made the request; null if a person asked. */
    policyId: uuid('policy_id'),
    /** The app that was asked for. */
    appId: uuid('app_id').notNull(),
    /** The app in whose system it was given. */
    carriedAppId: uuid('carried_app_id').notNull(),
    /** What the permission was called; null for the app itself. */
    label: text('label'),
    /** Null for the app itself, and for what stands for no entitlement. */
    entitlement: jsonb('entitlement').$type<EntitlementRef>(),
  },
  (table) => [
    uniqueIndex('reason_spans_open').on(table.requestId).where(sql`${table.until} is null`),
    index('reason_spans_user').on(table.userId, table.since),
    index('reason_spans_ended').on(table.until, table.id).where(sql`${table.until} is not null`),
  ],
)
