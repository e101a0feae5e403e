/** Access policies: who is given what by what they are, and what is left to be looked at. */
import { boolean, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { POLICY_STATUSES, type PolicyApp } from '../../contract/models/access-policy.ts'
import type { Condition } from '../../contract/models/condition.ts'
import { domainId, id, moment, partOf, timestamps } from './columns.ts'
import { domains, users } from './people.ts'

/** What came of looking at everybody. */
export type SweepCounts = { users: number; given: number; taken: number }

export const accessPolicies = pgTable(
  'access_policies',
  {
    id: id(),
    domainId: domainId().references(() => domains.id),
    name: text('name').notNull(),
    businessJustification: text('business_justification').notNull(),
    status: text('status', { enum: POLICY_STATUSES }).notNull(),
    isEnabled: boolean('is_enabled').notNull(),
    isEveryone: boolean('is_everyone').notNull(),
    /** Null for everybody. */
    condition: jsonb('condition').$type<Condition>(),
    /** In the order written. */
    apps: jsonb('apps').$type<PolicyApp[]>().notNull(),
    /** Deleted, but what it gave is still being taken back; the row goes when that is done. */
    deletedAt: moment('deleted_at'),
    /** Everybody is being looked at, in the order of their ids, and so far it is; null: nothing is left. */
    sweptTo: uuid('swept_to'),
    /** Raised when every user has to be compared again: a host that is doing it starts over. */
    sweep: integer('sweep').notNull().default(0),
    swept: jsonb('swept').$type<SweepCounts>().notNull().default({ users: 0, given: 0, taken: 0 }),
    /** Why it cannot be evaluated; the admins have a task then. */
    problem: text('problem'),
    ...timestamps(),
  },
  (table) => [index('access_policies_order').on(table.domainId, table.createdAt, table.id)],
)
export type PolicyRow = typeof accessPolicies.$inferSelect

/** Users who changed and have not been compared with the policies since. */
export const policyWants = pgTable(
  'policy_wants',
  {
    userId: partOf('user_id', () => users.id).primaryKey(),
    domainId: domainId().references(() => domains.id),
    /** How often it failed in a row. */
    attempts: integer('attempts').notNull().default(0),
    /** When it is to be tried. */
    wakeAt: moment('wake_at').notNull().defaultNow(),
  },
  (table) => [index('policy_wants_wake').on(table.wakeAt)],
)
