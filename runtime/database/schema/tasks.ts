/** Tasks: decisions and work for people. */
import { sql } from 'drizzle-orm'
import { index, pgTable } from 'drizzle-orm/pg-core'
import {
  ACTIONABLE_TASKS,
  DECISION_TASKS,
  OPEN_TASKS,
  TASK_CATEGORIES,
  TASK_PRODUCT_AREAS,
  TASK_STATUSES,
} from '../../contract/models/task.ts'
import { createdAt, domainId, id, partOf, timestamps } from './columns.ts'
import { literals } from './literals.ts'
import { domains, groups, users } from './people.ts'

/** For `status in (...)`: tasks that people can act on, and tasks that have not ended. */
export const ACTIONABLE_STATES = literals(ACTIONABLE_TASKS)
export const OPEN_STATES = literals(OPEN_TASKS)
/** For `task_category in (...)`: tasks that ask for a decision. */
export const DECISION_CATEGORIES = literals(DECISION_TASKS)

export const tasks = pgTable(
  'tasks',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    taskType: t.text('task_type').notNull(),
    taskCategory: t.text('task_category', { enum: TASK_CATEGORIES }).notNull(),
    status: t.text('status', { enum: TASK_STATUSES }).notNull().default('PENDING'),
    description: t.text('description'),
    instructions: t.text('instructions'),
    productArea: t.text('product_area', { enum: TASK_PRODUCT_AREAS }),
    appId: t.uuid('app_id'),
    targetUserId: t.uuid('target_user_id').references(() => users.id),
    resolvedById: t.uuid('resolved_by_id').references(() => users.id),
    /** Represented person, if a delegate resolved it. */
    resolvedForId: t.uuid('resolved_for_id').references(() => users.id),
    accessRequestId: t.uuid('access_request_id'),
    requestablePermissionId: t.uuid('requestable_permission_id'),
    ...timestamps(),
  }),
  (table) => [
    index('tasks_order').on(table.domainId, table.createdAt, table.id),
    index('tasks_status').on(table.domainId, table.status, table.createdAt),
    index('tasks_type').on(table.domainId, table.taskType, table.id),
    index('tasks_app').on(table.domainId, table.appId, table.id),
    index('tasks_target').on(table.domainId, table.targetUserId, table.id),
    index('tasks_request').on(table.accessRequestId),
    index('tasks_done').on(table.updatedAt, table.id).where(sql`status not in (${OPEN_STATES})`),
  ],
)
export type TaskRow = typeof tasks.$inferSelect

/** A user or a group, never both. */
export const taskAssignees = pgTable(
  'task_assignees',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    taskId: partOf('task_id', () => tasks.id),
    userId: t.uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    groupId: t.uuid('group_id').references(() => groups.id, { onDelete: 'cascade' }),
  }),
  (table) => [
    index('task_assignees_task').on(table.taskId),
    index('task_assignees_user').on(table.userId),
    index('task_assignees_group').on(table.groupId),
  ],
)

export const taskComments = pgTable(
  'task_comments',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    taskId: partOf('task_id', () => tasks.id),
    body: t.text('body').notNull(),
    createdById: t.uuid('created_by_id').references(() => users.id),
    createdAt: createdAt(),
  }),
  (table) => [index('task_comments_task').on(table.taskId, table.createdAt)],
)
