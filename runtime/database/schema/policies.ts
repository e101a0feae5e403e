/** Access policies: access by attributes of users, and users still to be checked. */
import { index, pgTable } from 'drizzle-orm/pg-core'
import { POLICY_STATUSES, type PolicyApp } from '../../contract/models/access-policy.ts'
import type { Condition } from '../../contract/models/condition.ts'
import { domainId, id, moment, partOf, timestamps } from './columns.ts'
import { domains, users } from './people.ts'

/** Result of checking all users. */
export type SweepCounts = { users: number; given: number; taken: number }

export const accessPolicies = pgTable(
  'access_policies',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    name: t.text('name').notNull(),
    businessJustification: t.text('business_justification').notNull(),
    status: t.text('status', { enum: POLICY_STATUSES }).notNull(),
    isEnabled: t.boolean('is_enabled').notNull(),
    isEveryone: t.boolean('is_everyone').notNull(),
    /** Null for all users. */
    condition: t.jsonb('condition').$type<Condition>(),
    /** In the order written. */
    apps: t.jsonb('apps').$type<PolicyApp[]>().notNull(),
    /** Set if it is deleted, but its grants are still being revoked. The row is removed afterwards. */
    deletedAt: moment('deleted_at'),
    /** Last checked user while all users are checked in the order of their ids. Null if none are left. */
    sweptTo: t.uuid('swept_to'),
    /** Incremented when every user has to be compared again. A host in the middle of that starts over. */
    sweep: t.integer('sweep').notNull().default(0),
    swept: t
      .jsonb('swept')
      .$type<SweepCounts>()
      .notNull()
      .default({ users: 0, given: 0, taken: 0 }),
    /** Why the policy cannot be evaluated. The admins then have a task. */
    problem: t.text('problem'),
    ...timestamps(),
  }),
  (table) => [index('access_policies_order').on(table.domainId, table.createdAt, table.id)],
)
export type PolicyRow = typeof accessPolicies.$inferSelect

/** Users who changed and have not been compared with the policies since. */
export const policyWants = pgTable(
  'policy_wants',
  (t) => ({
    userId: partOf('user_id', () => users.id).primaryKey(),
    domainId: domainId().references(() => domains.id),
    /** Consecutive failures. */
    attempts: t.integer('attempts').notNull().default(0),
    /** Time of the next attempt. */
    wakeAt: moment('wake_at').notNull().defaultNow(),
  }),
  (table) => [index('policy_wants_wake').on(table.wakeAt)],
)
