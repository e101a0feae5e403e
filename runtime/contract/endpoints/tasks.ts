/** Tasks: core-interface.md section 1.1; service.md section 4.2. */
import * as v from 'valibot'
import { TaskGrounds } from '../models/asking.ts'
import {
  AddCommentInput,
  PerformTaskActionInput,
  ReassignTaskInput,
  Task,
  TaskAction,
  TaskComment,
} from '../models/task.ts'
import { endpoint } from './endpoint.ts'
import { bool, text, texts } from './params.ts'

const tasks = endpoint('Tasks')

const expand = texts().describe('actions, assignees; for a single task also comments')

export const TASK_ENDPOINTS = {
  list_tasks: tasks.page('/tasks', {
    summary: 'List the tasks that are assigned to the caller',
    who: 'caller',
    query: {
      show_all_tasks: bool(false).describe('Tasks of all users; for admins'),
      task_type: text().describe('Only tasks of this type. /docs/reference/events lists all'),
      task_category: text(),
      status: text(),
      open: bool(false).describe('Only tasks that can be acted on: PENDING, ACCEPTED'),
      product_area: text(),
      search: text().describe('Part of the description'),
      sort_by: text().describe('createdAt, taskType, app, targetUser'),
      sort_direction: text().describe('asc or desc'),
      expand,
      assigned_identity_ids: texts(),
      assigned_group_ids: texts(),
      access_request_id: text(),
    },
    output: Task,
  }),
  get_task: tasks.get('/tasks/:task_id', {
    summary: 'Read a task',
    who: 'caller',
    query: { expand },
    output: Task,
  }),
  list_task_actions: tasks.get('/tasks/:task_id/actions', {
    summary: 'List the actions available for the task',
    who: 'caller',
    output: v.array(TaskAction),
  }),
  get_task_grounds: tasks.get('/tasks/:task_id/grounds', {
    summary: 'Read the grounds for a decision; only its approvers may',
    who: 'caller',
    output: TaskGrounds,
    errors: [403, 404],
  }),
  perform_task_action: tasks.post('/tasks/:task_id/perform-action', {
    summary: 'Perform one of the actions',
    who: 'caller',
    body: PerformTaskActionInput,
  }),
  reassign_task: tasks.post('/tasks/:task_id/reassign', {
    summary: 'Reassign an approval task',
    who: 'caller',
    body: ReassignTaskInput,
  }),
  comment_on_task: tasks.post('/tasks/:task_id/comments', {
    summary: 'Comment on a task',
    who: 'caller',
    body: AddCommentInput,
    output: TaskComment,
    status: 201,
  }),
  complete_task: tasks.post('/tasks/:task_id/complete', {
    summary: 'Perform the action that completes the task; approves an approval task',
    who: 'caller',
  }),
  dismiss_task: tasks.post('/tasks/:task_id/dismiss', {
    summary: 'Perform the action that dismisses the task; denies an approval task',
    who: 'caller',
  }),
} as const
