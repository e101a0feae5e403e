/** Findings and rules of separation of duties. A finding is a span: opened, resolved, and never reopened. */
import { sql } from 'drizzle-orm'
import { index, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import { FINDING_STATES, type FindingKind, SEVERITIES } from '../../contract/models/finding.ts'
import type { OnRequest } from '../../contract/models/separation.ts'
import { apps } from './apps.ts'
import { domainId, id, moment, number, timestamps, updatedAt } from './columns.ts'
import { domains, users } from './people.ts'

/** One side of a rule, by ids. */
export type SeparationSide = { apps: string[]; permissions: string[] }

export const separationRules = pgTable(
  'separation_rules',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    name: t.text('name').notNull(),
    description: t.text('description').notNull().default(''),
    isEnabled: t.boolean('is_enabled').notNull().default(true),
    onRequest: t.text('on_request').$type<OnRequest>().notNull().default('WARN'),
    left: t.jsonb('left_side').$type<SeparationSide>().notNull(),
    right: t.jsonb('right_side').$type<SeparationSide>().notNull(),
    approverUserIds: t.uuid('approver_user_ids').array().notNull().default(sql`'{}'`),
    approverGroupIds: t.uuid('approver_group_ids').array().notNull().default(sql`'{}'`),
    ...timestamps(),
  }),
  (table) => [index('separation_rules_order').on(table.domainId, table.createdAt, table.id)],
)
export type SeparationRow = typeof separationRules.$inferSelect

/** Details of a finding, by name: ids, numbers, times and labels, nothing personal. */
export type FindingDetails = Record<string, string | number | string[]>

export const findings = pgTable(
  'findings',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    kind: t.text('kind').$type<FindingKind>().notNull(),
    severity: t.text('severity', { enum: SEVERITIES }).notNull(),
    state: t.text('state', { enum: FINDING_STATES }).notNull().default('OPEN'),
    /** Ids of the finding's subject within its kind. At most one finding of a kind and subject is open. */
    subject: t.text('subject').notNull(),
    appId: t.uuid('app_id').references(() => apps.id, { onDelete: 'cascade' }),
    accountId: t.uuid('account_id'),
    userId: t.uuid('user_id').references(() => users.id, { onDelete: 'set null' }),
    entitlementId: number('entitlement_id'),
    ruleId: t.uuid('rule_id'),
    details: t.jsonb('details').$type<FindingDetails>().notNull().default({}),
    openedAt: moment('opened_at').notNull().defaultNow(),
    /** Last complete sync of the app by then. Null if there was none, or if the finding is about no app. */
    openedRun: number('opened_run'),
    resolvedAt: moment('resolved_at'),
    resolvedRun: number('resolved_run'),
    acceptedAt: moment('accepted_at'),
    acceptedUntil: moment('accepted_until'),
    acceptedById: t.uuid('accepted_by_id').references(() => users.id),
    reason: t.text('reason'),
    updatedAt: updatedAt(),
  }),
  (table) => [
    uniqueIndex('findings_subject')
      .on(table.domainId, table.kind, table.subject)
      .where(sql`${table.resolvedAt} is null`),
    index('findings_order').on(table.domainId, table.openedAt, table.id),
    index('findings_app').on(table.appId, table.openedAt, table.id),
    index('findings_account').on(table.accountId).where(sql`${table.resolvedAt} is null`),
    index('findings_user').on(table.userId),
    index('findings_accepted')
      .on(table.acceptedUntil)
      .where(sql`${table.acceptedUntil} is not null`),
    index('findings_done')
      .on(table.resolvedAt, table.id)
      .where(sql`${table.resolvedAt} is not null`),
  ],
)

/** Time of the next check of an app or a domain. */
export const findingSchedules = pgTable(
  'finding_looks',
  (t) => ({
    /** Id of the app. Id of the domain for findings about no single app. */
    subject: t.uuid('subject').primaryKey(),
    domainId: domainId().references(() => domains.id),
    wakeAt: moment('wake_at').notNull().defaultNow(),
    lookedAt: moment('looked_at'),
  }),
  (table) => [index('finding_looks_wake').on(table.wakeAt)],
)
