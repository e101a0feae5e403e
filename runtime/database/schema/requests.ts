/** Access requests, and their fulfilment in the systems of the apps. */
import { sql } from 'drizzle-orm'
import { index, pgTable, primaryKey, uniqueIndex } from 'drizzle-orm/pg-core'
import { REQUEST_STATUSES } from '../../contract/models/access-request.ts'
import { requestablePermissions } from './app_store.ts'
import { apps } from './apps.ts'
import { domainId, id, moment, partOf, refersTo, timestamps, updatedAt } from './columns.ts'
import { domains, users } from './people.ts'
import { accessPolicies } from './policies.ts'

/** Ids of people and groups who act together: one of them decides, or does the work, for all. */
export type PeopleAndGroups = { users: string[]; groups: string[] }

/** Approvers of the request, as configured when it was made. */
export type ApprovalPlan = {
  manager: boolean
  /** Stages, one after another. */
  stages: PeopleAndGroups[]
  /** Message for the approvers. */
  message: string | null
  /**
   * Names of the rules of separation of duties from which it needs an exception. Its last stage decides on
   * that.
   */
  exception?: string[]
  /** Webhook asked first. If it refuses, the request is denied. */
  validationWebhook: string | null
}

/** An entitlement in a third-party system. */
export type EntitlementRef = {
  entitlementType: string
  entitlementId: string
  resourceType: string
  /** Empty for the global resource. */
  resourceId: string
}

export const accessRequests = pgTable(
  'access_requests',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    /** Null: the app itself, that is an account; or a permission deleted since (`label`). */
    permissionId: t.uuid('permission_id').references(() => requestablePermissions.id, {
      onDelete: 'set null',
    }),
    /** Label of the permission. Null for the app itself. */
    label: t.text('label'),
    /** Null if a policy made the request. */
    requesterId: t.uuid('requester_id').references(() => users.id),
    targetUserId: refersTo('target_user_id', () => users.id),
    policyId: t.uuid('policy_id').references(() => accessPolicies.id, { onDelete: 'set null' }),
    /**
     * What the policy wants granted: the permission's id, else the app's. While it is set, even after a
     * denial, the policy makes no second request. Null once the policy no longer wants it.
     */
    policyFor: t.uuid('policy_for'),
    /** A rule of separation of duties denied it. The policy requests it again once no rule does. */
    isBlocked: t.boolean('is_blocked').notNull().default(false),
    status: t.text('status', { enum: REQUEST_STATUSES }).notNull(),
    /** Granted at once and reviewed afterwards. */
    isBreakGlass: t.boolean('is_break_glass').notNull().default(false),
    /** Person who revoked the access early. The reason is the note of REVERTING. Null if nobody did. */
    revokedById: t.uuid('revoked_by_id').references(() => users.id),
    /** Status -> note made when it was reached. */
    notes: t.jsonb('notes').$type<Record<string, string | null>>().notNull().default({}),
    plan: t.jsonb('plan').$type<ApprovalPlan>().notNull(),
    /** Index of the deciding stage, from 0. */
    stage: t.integer('stage').notNull().default(0),
    /** Duration of the access. Null if it does not expire. */
    expirationInSeconds: t.integer('expiration_in_seconds'),
    /** Counted from the time of the grant. */
    expiresAt: moment('expires_at'),
    /** Remaining work outside of the database. Null if there is none. */
    pendingOperation: t.text('todo', { enum: ['check', 'grant', 'remove'] }),
    /** How it was, or is being, granted. Null before. */
    fulfilment: t.text('how', { enum: ['connector', 'webhook', 'manual'] }),
    entitlement: t.jsonb('entitlement').$type<EntitlementRef>(),
    /**
     * App in whose system it is granted. Differs from `appId` if a group of that app stands for the access.
     */
    carriedAppId: partOf('carried_app_id', () => apps.id),
    /**
     * Whether the access existed before any request granted it: then no request revokes it. Null if unknown
     * yet.
     */
    preExisting: t.boolean('was_there'),
    /** Consecutive failures of the remaining work. */
    attempts: t.integer('attempts').notNull().default(0),
    /** Time of the first of those failures. Null while nothing fails. */
    failingSince: moment('failing_since'),
    /** Description of the last failure, without secrets. */
    problem: t.text('problem'),
    /** When to check it again without an event: an expiry, or the next attempt. */
    wakeAt: moment('wake_at'),
    ...timestamps(),
  }),
  (table) => [
    index('access_requests_order').on(table.domainId, table.createdAt, table.id),
    index('access_requests_target').on(table.domainId, table.targetUserId, table.createdAt),
    index('access_requests_requester').on(table.domainId, table.requesterId, table.createdAt),
    index('access_requests_status').on(table.domainId, table.status, table.createdAt, table.id),
    // For counting, which a list does after each change. It has a tenth of the pages of the index of the
    // order.
    index('access_requests_count').on(table.domainId, table.status),
    index('access_requests_app').on(table.appId),
    index('access_requests_pair').on(table.carriedAppId, table.targetUserId, table.status),
    index('access_requests_permission').on(table.permissionId),
    index('access_requests_policy').on(table.policyId, table.targetUserId),
    uniqueIndex('access_requests_policy_for')
      .on(table.policyId, table.targetUserId, table.policyFor)
      .where(sql`${table.policyFor} is not null`),
    index('access_requests_blocked')
      .on(table.domainId, table.targetUserId, table.id)
      .where(sql`${table.isBlocked}`),
    index('access_requests_todo')
      .on(table.pendingOperation, table.expiresAt)
      .where(sql`${table.pendingOperation} is not null`),
    index('access_requests_wake').on(table.wakeAt).where(sql`${table.wakeAt} is not null`),
    // For retention, like the others that end in `done` (core/retention/rules.ts).
    index('access_requests_done')
      .on(table.updatedAt, table.id)
      .where(sql`todo is null and wake_at is null and status <> 'COMPLETED'`),
  ],
)
export type RequestRow = typeof accessRequests.$inferSelect

/** A person in an app. Records what is known of an account before the account is created. */
export const provisionedAccounts = pgTable(
  'holders',
  (t) => ({
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    userId: partOf('user_id', () => users.id),
    /** Id of the account in the app. Null while it is unknown. */
    account: t.text('account'),
    /** Whether the account was created, or reactivated, for a request. */
    made: t.boolean('made').notNull().default(false),
    /** Whether a create_account with an unknown outcome was sent: check before sending it again. */
    making: t.boolean('making').notNull().default(false),
    /**
     * Ended request for the app that left the account open for other granted requests. The account is closed
     * after the last of them.
     */
    leftBy: t.uuid('left_by').references(() => accessRequests.id, { onDelete: 'set null' }),
    updatedAt: updatedAt(),
  }),
  (table) => [
    primaryKey({ columns: [table.appId, table.userId] }),
    index('holders_left_by').on(table.leftBy).where(sql`${table.leftBy} is not null`),
  ],
)
