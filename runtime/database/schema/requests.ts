/** Access requests, and what is being done about them in the systems of their apps. */
import { sql } from 'drizzle-orm'
import {
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
import { REQUEST_STATUSES } from '../../contract/models/access-request.ts'
import { requestablePermissions } from './app_store.ts'
import { apps } from './apps.ts'
import { domainId, id, moment, partOf, refersTo, timestamps, updatedAt } from './columns.ts'
import { domains, users } from './people.ts'
import { accessPolicies } from './policies.ts'

/** Ids of those who decide together: one of them says yes or no for all. */
export type Approvers = { users: string[]; groups: string[] }

/** Who has to say yes, as it was when the request was made. */
export type ApprovalPlan = {
  manager: boolean
  /** One after the other. */
  stages: Approvers[]
  /** Words for the approvers. */
  message: string | null
  /** Names of the rules of separation of duties that it needs an exception from: its last stage decides on that. */
  exception?: string[]
  /** Asked first; its no denies the request. */
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
  {
    id: id(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    /** Null: access to the app itself, an account; or a permission that was deleted since (`label`). */
    permissionId: uuid('permission_id').references(() => requestablePermissions.id, {
      onDelete: 'set null',
    }),
    /** What the permission was called; null for the app itself. */
    label: text('label'),
    /** Null where nobody asked: a policy gave it. */
    requesterId: uuid('requester_id').references(() => users.id),
    targetUserId: refersTo('target_user_id', () => users.id),
    policyId: uuid('policy_id').references(() => accessPolicies.id, { onDelete: 'set null' }),
    /**
     * What the policy wanted by it: the permission's id, else the app's. As long as it stands, also after a
     * no, the policy makes no other; null once the policy wants it no more.
     */
    policyFor: uuid('policy_for'),
    /** A rule of separation of duties denied it; the policy asks again once none does. */
    isBlocked: boolean('is_blocked').notNull().default(false),
    status: text('status', { enum: REQUEST_STATUSES }).notNull(),
    /** Taken at once, and reviewed afterwards. */
    isBreakGlass: boolean('is_break_glass').notNull().default(false),
    /** Who ended what it granted before its time; why is the note of REVERTING. Null: nobody did. */
    revokedById: uuid('revoked_by_id').references(() => users.id),
    /** Status to what was said when it was reached. */
    notes: jsonb('notes').$type<Record<string, string | null>>().notNull().default({}),
    plan: jsonb('plan').$type<ApprovalPlan>().notNull(),
    /** Which of the stages decides now, from 0. */
    stage: integer('stage').notNull().default(0),
    /** How long the access is to last; null for good. */
    expirationInSeconds: integer('expiration_in_seconds'),
    /** Counted from when it was given. */
    expiresAt: moment('expires_at'),
    /** What is left to do outside the database: null for nothing. */
    pendingOperation: text('todo', { enum: ['check', 'grant', 'remove'] }),
    /** How it was, or is being, granted; null before. */
    fulfilment: text('how', { enum: ['connector', 'webhook', 'manual'] }),
    entitlement: jsonb('entitlement').$type<EntitlementRef>(),
    /** The app in whose system it is done: another than `appId` where a group of that app stands for it. */
    carriedAppId: partOf('carried_app_id', () => apps.id),
    /** Whether the access was there before any request granted it: then none revokes it. Null: not known yet. */
    preExisting: boolean('was_there'),
    /** How often what is left to do failed in a row. */
    attempts: integer('attempts').notNull().default(0),
    /** When the first of those tries failed; null while nothing fails. */
    failingSince: moment('failing_since'),
    /** What failed last, without secrets. */
    problem: text('problem'),
    /** When to look at it again although nothing happened: an expiry, or the next try. */
    wakeAt: moment('wake_at'),
    ...timestamps(),
  },
  (table) => [
    index('access_requests_order').on(table.domainId, table.createdAt, table.id),
    index('access_requests_target').on(table.domainId, table.targetUserId, table.createdAt),
    index('access_requests_requester').on(table.domainId, table.requesterId, table.createdAt),
    index('access_requests_status').on(table.domainId, table.status, table.createdAt, table.id),
    // To count them, which a list does after each change: a tenth of the pages of the one in their order.
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
    // Of retention, as are the others that end in `done` (core/retention/rules.ts).
    index('access_requests_done')
      .on(table.updatedAt, table.id)
      .where(sql`todo is null and wake_at is null and status <> 'COMPLETED'`),
  ],
)
export type RequestRow = typeof accessRequests.$inferSelect

/** A person in an app: what is known of an account that is being made stands here before it is made. */
export const provisionedAccounts = pgTable(
  'holders',
  {
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    userId: partOf('user_id', () => users.id),
    /** The account's id in the app; null while none is known. */
    account: text('account'),
    /** Whether the account was made, or woken, for a request. */
    made: boolean('made').notNull().default(false),
    /** A create_account was sent whose end is not known: look before it is sent again. */
    making: boolean('making').notNull().default(false),
    /** The request for the app that ended, and left the account open to others who still stand: it is closed after the last. */
    leftBy: uuid('left_by').references(() => accessRequests.id, { onDelete: 'set null' }),
    updatedAt: updatedAt(),
  },
  (table) => [
    primaryKey({ columns: [table.appId, table.userId] }),
    index('holders_left_by').on(table.leftBy).where(sql`${table.leftBy} is not null`),
  ],
)
