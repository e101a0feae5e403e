/**
 * Access reviews: their apps as of the launch, the lines to decide on, and each decision. The facts about an
 * item's account are frozen: they do not follow later syncs.
 */
import { sql } from 'drizzle-orm'
import { index, pgTable, primaryKey, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { AccessReason } from '../../contract/models/access.ts'
import {
  CREATION_PATHS,
  EVIDENCE_UPLOADS,
  REMOVAL_ACTIONS,
  REVIEW_APP_STATUSES,
  REVIEW_STATUSES,
  REVIEW_TYPES,
  type RecurrenceConfig,
} from '../../contract/models/access-review.ts'
import type { Reading } from '../../contract/models/reading.ts'
import {
  DECISIONS,
  type Hint,
  ITEM_STATES,
  ON_DEADLINE,
  REVIEWER_KINDS,
  SECOND_KINDS,
} from '../../contract/models/review-item.ts'
import type { ScopeFilter } from '../../contract/models/review-scope.ts'
import { apps } from './apps.ts'
import {
  bytes,
  createdAt,
  domainId,
  id,
  moment,
  number,
  partOf,
  refersTo,
  timestamps,
  updatedAt,
} from './columns.ts'
import { domains, users } from './people.ts'

const ids = (name: string) => uuid(name).array().notNull().default(sql`'{}'`)

export const accessReviews = pgTable(
  'access_reviews',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    name: t.text('name').notNull(),
    status: t.text('status', { enum: REVIEW_STATUSES }).notNull(),
    creationPath: t.text('creation_path', { enum: CREATION_PATHS }).notNull().default('API'),
    ownerId: t.uuid('owner_id').references(() => users.id),
    createdById: t.uuid('created_by_id').references(() => users.id),
    deadlineAt: moment('deadline_at').notNull(),
    startedAt: moment('started_at'),
    completedAt: moment('completed_at'),
    targetLaunchDate: moment('target_launch_date'),
    recurrence: t.jsonb('recurrence_config').$type<RecurrenceConfig>(),
    recurrenceDays: t.integer('recurrence_days_frequency'),
    /** Review that recurred as this one. */
    followsId: t.uuid('follows_id'),
    /** When the next review of a recurring one is created. Null: it was created, or there is none. */
    nextAt: moment('next_at'),
    reviewers: t.text('reviewers', { enum: REVIEWER_KINDS }).notNull().default('MANAGERS'),
    reviewerUserIds: ids('reviewer_user_ids'),
    reviewerGroupIds: ids('reviewer_group_ids'),
    /** Reviewers who confirm lines kept despite a red hint. Null: no confirmation is needed. */
    secondReviewers: t.text('second_reviewers', { enum: SECOND_KINDS }),
    secondUserIds: ids('second_user_ids'),
    secondGroupIds: ids('second_group_ids'),
    onDeadline: t.text('on_deadline', { enum: ON_DEADLINE }).notNull().default('LEAVE'),
    /** When its decisions ended, by its deadline or by a person. */
    closedAt: moment('closed_at'),
    /** When reviewers were last reminded. */
    remindedAt: moment('reminded_at'),
    /** When to check it again. Null: not by itself. */
    wakeAt: moment('wake_at'),
    ...timestamps(),
  }),
  (table) => [
    uniqueIndex('access_reviews_name')
      .on(table.domainId, sql`lower(${table.name})`)
      .where(sql`status <> 'DELETED'`),
    index('access_reviews_order').on(table.domainId, table.createdAt, table.id),
    index('access_reviews_wake').on(table.wakeAt).where(sql`${table.wakeAt} is not null`),
    index('access_reviews_done').on(table.updatedAt, table.id).where(sql`wake_at is null`),
    index('access_reviews_next').on(table.nextAt).where(sql`${table.nextAt} is not null`),
  ],
)
export type ReviewRow = typeof accessReviews.$inferSelect

/** Sync of an app's items, and a count of all its rows: synced = items + excluded + leftOut. */
type Population = {
  run: number | null
  at: string | null
  connector: string | null
  connectorVersion: string | null
  connectorDigest: string | null
  synced: number
  items: number
  /** Counts by group of filters. */
  excluded: Record<string, number>
  leftOut: number
}

/** App of a review. The published service calls its id `arda_id`. */
export const accessReviewApps = pgTable(
  'access_review_apps',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    reviewId: partOf('review_id', () => accessReviews.id),
    appId: partOf('app_id', () => apps.id),
    reviewType: t.text('review_type', { enum: REVIEW_TYPES }).notNull(),
    status: t.text('status', { enum: REVIEW_APP_STATUSES }).notNull(),
    scope: t.jsonb('scope_filters').$type<ScopeFilter[]>(),
    removalAction: t
      .text('removal_action', { enum: REMOVAL_ACTIONS })
      .notNull()
      .default('DEPROVISION'),
    evidenceUpload: t
      .text('evidence_upload', { enum: EVIDENCE_UPLOADS })
      .notNull()
      .default('DEFAULT'),
    /** Second stage as configured at the launch. */
    secondReviewers: t.text('second_reviewers', { enum: SECOND_KINDS }),
    population: t.jsonb('population').$type<Population>(),
    accountCount: t.integer('account_count'),
    /** Sync begun for the review, because the last one was unsuitable. */
    freshRun: number('fresh_run'),
    /** Last complete sync with which its items were compared. */
    seenRun: number('seen_run'),
    /** Why it does not proceed. */
    problem: t.text('problem'),
    launchedAt: moment('launched_at'),
    /** When its decisions ended. */
    removalAt: moment('removal_at'),
    completedAt: moment('completed_at'),
    /** When to check it again. Null: only after a sync. */
    wakeAt: moment('wake_at'),
    ...timestamps(),
  }),
  (table) => [
    uniqueIndex('access_review_apps_app')
      .on(table.reviewId, table.appId)
      .where(sql`status <> 'DELETED'`),
    index('access_review_apps_wake').on(table.wakeAt).where(sql`${table.wakeAt} is not null`),
    index('access_review_apps_live')
      .on(table.appId)
      .where(sql`status in ('IN_PREPARATION', 'IN_PROGRESS', 'WAITING_FOR_MANUAL_ACTION')`),
  ],
)
export type ReviewAppRow = typeof accessReviewApps.$inferSelect

/** Joint reviewers of some lines of an app. Each of them may decide. They share one task. */
export const accessReviewAssignments = pgTable(
  'access_review_assignments',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    reviewAppId: partOf('arda_id', () => accessReviewApps.id),
    userIds: ids('user_ids'),
    groupIds: ids('group_ids'),
    taskId: t.uuid('task_id'),
    /** Reason for these reviewers. For a reassigned line, the given reason. */
    why: t.text('why').notNull(),
    /** Person who reassigned the lines. Null for the host. */
    byId: t.uuid('by_id').references(() => users.id),
    createdAt: createdAt(),
  }),
  (table) => [
    index('access_review_assignments_arda').on(table.reviewAppId),
    index('access_review_assignments_task')
      .on(table.taskId)
      .where(sql`${table.taskId} is not null`),
  ],
)

export const accessReviewItems = pgTable(
  'access_review_items',
  (t) => ({
    id: id(),
    domainId: domainId(),
    /** Position in the list. */
    place: t.bigserial('place', { mode: 'number' }).notNull(),
    reviewId: t.uuid('review_id').notNull(),
    reviewAppId: partOf('arda_id', () => accessReviewApps.id),
    appId: t.uuid('app_id').notNull(),
    state: t.text('state', { enum: ITEM_STATES }).notNull().default('OPEN'),
    assignmentId: t.uuid('assignment_id'),
    /** People who approved or carried out the grant. Others review the line if there are any. */
    involved: ids('involved'),
    // Facts as of the launch: accounts and entitlements may change or be removed.
    accountId: t.uuid('account_id').notNull(),
    entitlementId: number('entitlement_id'),
    account: t.text('account').notNull(),
    accountType: t.text('account_type').notNull(),
    accountStatus: t.text('account_status'),
    accountEmail: t.text('account_email'),
    userId: t.uuid('user_id'),
    userEmail: t.text('user_email'),
    userName: t.text('user_name'),
    entitlementType: t.text('entitlement_type'),
    externalId: t.text('external_id'),
    resourceId: t.text('resource_id'),
    resourceType: t.text('resource_type'),
    label: t.text('label'),
    heldSince: moment('held_since'),
    lastLogin: moment('last_login'),
    lastActivity: moment('last_activity'),
    reasons: t.jsonb('reasons').$type<AccessReason[]>().notNull().default([]),
    hints: t.text('hints').array().$type<Hint[]>().notNull().default(sql`'{}'`),
    /** Of the others in the person’s team: number that hold it, and number in all. */
    peersHeld: t.integer('peers_held'),
    peersOf: t.integer('peers_of'),
    /** Last decision. */
    actId: t.uuid('act_id'),
    reason: t.text('reason'),
    decidedById: t.uuid('decided_by_id'),
    /** Person who kept it first, if another person has to confirm that. */
    keptById: t.uuid('kept_by_id'),
    decidedAt: moment('decided_at'),
    // Removal.
    attempts: t.integer('attempts').notNull().default(0),
    failingSince: moment('failing_since'),
    problem: t.text('problem'),
    taskId: t.uuid('task_id'),
    /** When the system confirmed the removal, while the result cannot be read. */
    sentAt: moment('sent_at'),
    /** When its webhook was called. None is called twice. */
    calledAt: moment('called_at'),
    goneAt: moment('gone_at'),
    goneRun: number('gone_run'),
    /** State read from the system before the removal, and after. */
    readings: t.jsonb('readings').$type<Reading[]>().notNull().default([]),
    wakeAt: moment('wake_at'),
    updatedAt: updatedAt(),
  }),
  (table) => [
    index('access_review_items_order').on(table.reviewId, table.place),
    index('access_review_items_hints').using('gin', table.hints),
    // A digest, because ids from apps may be of any length.
    index('access_review_items_entitlement').on(table.reviewId, sql`md5(${table.externalId})`),
    index('access_review_items_state').on(table.reviewAppId, table.state, table.place),
    index('access_review_items_assignment').on(table.assignmentId, table.state),
    index('access_review_items_account').on(table.accountId),
    index('access_review_items_user').on(table.userId),
    index('access_review_items_wake')
      .on(table.reviewAppId, table.wakeAt)
      .where(sql`${table.wakeAt} is not null`),
  ],
)
export type ItemRow = typeof accessReviewItems.$inferSelect

/**
 * Number of lines of an app by state and hints, as additions and subtractions. A trigger of the lines writes
 * them, and core/reviews/counts.ts folds them.
 */
export const accessReviewCounts = pgTable(
  'access_review_counts',
  (t) => ({
    id: t.bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId(),
    reviewId: t.uuid('review_id').notNull(),
    reviewAppId: t.uuid('arda_id').notNull(),
    state: t.text('state', { enum: ITEM_STATES }).notNull(),
    hints: t.text('hints').array().$type<Hint[]>().notNull(),
    n: number('n').notNull(),
  }),
  (table) => [
    index('access_review_counts_review').on(table.reviewId),
    index('access_review_counts_arda').on(table.reviewAppId),
  ],
)

/**
 * Text for searching the lines of an app, once for each account and entitlement. Lines change, this does not.
 */
export const accessReviewTexts = pgTable(
  'access_review_texts',
  (t) => ({
    id: t.bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId(),
    reviewId: t.uuid('review_id').notNull(),
    reviewAppId: partOf('arda_id', () => accessReviewApps.id),
    /** The account, or the digest of the entitlement as in the index of lines. The other is null. */
    accountId: t.uuid('account_id'),
    entitlement: t.text('entitlement'),
    searched: t.text('searched').notNull(),
  }),
  (table) => [
    index('access_review_texts_review').on(table.reviewId),
    index('access_review_texts_arda').on(table.reviewAppId),
    index('access_review_texts_account').on(table.accountId),
  ],
)

/** A decision as it was made: on one line, some, or all that match a filter. */
export const accessReviewActs = pgTable(
  'access_review_acts',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    reviewId: partOf('review_id', () => accessReviews.id),
    /** Null for the host, at a deadline. */
    userId: t.uuid('user_id').references(() => users.id),
    decision: t.text('decision', { enum: DECISIONS }).notNull(),
    reason: t.text('reason'),
    /** Null if lines were named. */
    filter: t.jsonb('filter').$type<Record<string, unknown>>(),
    items: t.integer('items').notNull(),
    createdAt: createdAt(),
  }),
  (table) => [index('access_review_acts_review').on(table.reviewId, table.createdAt, table.id)],
)

/** Decisions on each line. Rows are only added, so that changed decisions stay known. */
export const accessReviewDecisions = pgTable(
  'access_review_decisions',
  {
    actId: partOf('act_id', () => accessReviewActs.id),
    itemId: partOf('item_id', () => accessReviewItems.id),
  },
  (table) => [
    primaryKey({ columns: [table.actId, table.itemId] }),
    index('access_review_decisions_item').on(table.itemId),
  ],
)

/** Files attached to lines or to an app, as evidence of a removal or of a reason to keep access. */
export const accessReviewUploads = pgTable(
  'access_review_uploads',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    reviewId: partOf('review_id', () => accessReviews.id),
    /** App of its lines. `itemIds` names some of them, or is empty for all. */
    reviewAppId: t.uuid('arda_id').notNull(),
    itemIds: ids('item_ids'),
    userId: refersTo('user_id', () => users.id),
    name: t.text('name').notNull(),
    mediaType: t.text('media_type').notNull(),
    length: t.integer('length').notNull(),
    /** SHA-256 of the content, 64 hex digits. Also in the log. */
    digest: t.text('digest').notNull(),
    createdAt: createdAt(),
  }),
  (table) => [
    index('access_review_uploads_order').on(table.reviewId, table.createdAt, table.id),
    index('access_review_uploads_arda').on(table.reviewAppId),
    index('access_review_uploads_items').using('gin', table.itemIds),
  ],
)

/** Contents of the files, which lists do not read. Removed when a file is erased with its person. */
export const accessReviewFiles = pgTable('access_review_files', {
  uploadId: partOf('upload_id', () => accessReviewUploads.id).primaryKey(),
  content: bytes('content').notNull(),
})
