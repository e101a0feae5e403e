/** Access policies: who is given what by what they are. */
import { boolean, index, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import type { Condition } from '../../contract/condition.ts'
import { POLICY_STATUSES, type PolicyApp } from '../../contract/models/access-policy.ts'
import { createdAt, domainId, id, updatedAt } from './columns.ts'
import { domains } from './people.ts'

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
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [index('access_policies_order').on(table.domainId, table.createdAt, table.id)],
)
