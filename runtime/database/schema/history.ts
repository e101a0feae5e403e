/**
 * History of access: a span for each account, association, group membership and reason, from `since` until
 * just before `until` (null: still current). Spans are written only when something changes. The latest
 * complete sync of its app shows until when an open span is confirmed. Runs are ids of `sync_runs`, null if
 * no sync found the change (an import, an upload, a request, or access held when the history began).
 *
 * There are no foreign keys: millions of spans are written at once, and they outlive the rows that they
 * describe.
 */
import { sql } from 'drizzle-orm'
import { bigserial, index, pgTable, unique, uniqueIndex } from 'drizzle-orm/pg-core'
import { ACCOUNT_STATUSES, ACCOUNT_TYPES } from '../../contract/models/app.ts'
import { domainId, moment, number } from './columns.ts'
import type { EntitlementRef } from './requests.ts'

/** Single row: the time from which the history is known. */
export const historyStart = pgTable('history_start', (t) => ({
  id: t.boolean('id').primaryKey().default(true),
  since: moment('since').notNull().defaultNow(),
}))

/** Makes the number that orders spans of equal time. Tables with millions of spans have no index on it. */
const spanNumber = () => bigserial('id', { mode: 'number' })

const span = () => ({
  domainId: domainId(),
  since: moment('since').notNull(),
  until: moment('until'),
})

const runs = () => ({
  /** First complete run that saw it. */
  firstRun: number('first_run'),
  /** Last complete run that saw it. Null while the span is open: the app's latest complete run did. */
  lastRun: number('last_run'),
  /** First complete run that did not see it. */
  goneRun: number('gone_run'),
})

/** Spans of accounts. An account whose person, state or address changes has several. */
export const accountSpans = pgTable(
  'account_spans',
  (t) => ({
    id: spanNumber(),
    ...span(),
    ...runs(),
    appId: t.uuid('app_id').notNull(),
    accountId: t.uuid('account_id').notNull(),
    userId: t.uuid('user_id'),
    uniqueIdentifier: t.text('unique_identifier').notNull(),
    accountType: t.text('account_type', { enum: ACCOUNT_TYPES }).notNull(),
    status: t.text('status', { enum: ACCOUNT_STATUSES }),
    email: t.text('email'),
  }),
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

/**
 * Ended spans of associations. An association that is still held is a row of `associations`, its open span
 * (core/history/association-spans.ts).
 */
export const associationSpans = pgTable(
  'association_spans',
  (t) => ({
    id: spanNumber(),
    ...span(),
    ...runs(),
    appId: t.uuid('app_id').notNull(),
    accountId: t.uuid('account_id').notNull(),
    entitlementId: number('entitlement_id').notNull(),
  }),
  (table) => [
    // The only index of open spans: query by domain, app and account. At most one span of a pair is open.
    unique('association_spans_held')
      .on(table.domainId, table.appId, table.accountId, table.entitlementId, table.until)
      .nullsNotDistinct(),
    index('association_spans_ended')
      .on(table.until, table.id)
      .where(sql`${table.until} is not null`),
  ],
)

/** Spans of group memberships. */
export const memberSpans = pgTable(
  'member_spans',
  (t) => ({
    id: spanNumber().primaryKey(),
    ...span(),
    ...runs(),
    groupId: t.uuid('group_id').notNull(),
    userId: t.uuid('user_id').notNull(),
  }),
  (table) => [
    uniqueIndex('member_spans_open')
      .on(table.groupId, table.userId)
      .where(sql`${table.until} is null`),
    index('member_spans_user').on(table.userId, table.since),
    index('member_spans_ended').on(table.until, table.id).where(sql`${table.until} is not null`),
  ],
)

/** Reasons for a user's access: from when a request granted it until it was revoked. */
export const reasonSpans = pgTable(
  'reason_spans',
  (t) => ({
    id: spanNumber().primaryKey(),
    ...span(),
    userId: t.uuid('user_id').notNull(),
    requestId: t.uuid('request_id').notNull(),
    /** Policy that made the request. Null if a person did. */
    policyId: t.uuid('policy_id'),
    /** Requested app. */
    appId: t.uuid('app_id').notNull(),
    /** App in whose system it was granted. */
    carriedAppId: t.uuid('carried_app_id').notNull(),
    /** Label of the permission. Null for the app itself. */
    label: t.text('label'),
    /** Null for the app itself, and for a permission without an entitlement. */
    entitlement: t.jsonb('entitlement').$type<EntitlementRef>(),
  }),
  (table) => [
    uniqueIndex('reason_spans_open').on(table.requestId).where(sql`${table.until} is null`),
    index('reason_spans_user').on(table.userId, table.since),
    index('reason_spans_ended').on(table.until, table.id).where(sql`${table.until} is not null`),
  ],
)
