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
import { bool, pageParams, text, texts } from './params.ts'

const tasks = endpoint('Tasks')

const expand = texts().describe('actions, assignees; of one task also comments')

export const TASK_ENDPOINTS = {
  list_tasks: tasks.get('/tasks', {
    summary: 'List the tasks that are assigned to the caller',
    who: 'caller',
    query: {
      show_all_tasks: bool(false).describe('Everybody’s tasks; for admins'),
      task_type: text(),
      task_category: text(),
      status: text(),
      open: bool(false).describe('Only those that are still to be done: PENDING, ACCEPTED'),
      product_area: text(),
      search: text().describe('A part of the description'),
      sort_by: text().describe('createdAt, taskType, app, targetUser'),
      sort_direction: text().describe('asc or desc'),
      expand,
      assigned_identity_ids: texts(),
      assigned_group_ids: texts(),
      access_request_id: text(),
      ...pageParams,
    },
    answer: 'page',
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
    summary: 'Read what a decision can rest on, by who may make it',
    who: 'caller',
    output: TaskGrounds,
    errors: [403, 404],
  }),
  perform_task_action: tasks.post('/tasks/:task_id/perform-action', {
    summary: 'Do one of the actions',
    who: 'caller',
    body: PerformTaskActionInput,
  }),
  reassign_task: tasks.post('/tasks/:task_id/reassign', {
    summary: 'Give an approval task to others',
    who: 'caller',
    body: ReassignTaskInput,
  }),
  comment_on_task: tasks.post('/tasks/:task_id/comments', {
    summary: 'Say something about a task',
    who: 'caller',
    body: AddCommentInput,
    output: TaskComment,
    status: 201,
  }),
  complete_task: tasks.post('/tasks/:task_id/complete', {
    summary: 'Do the one action that completes the task; for an approval this is yes',
    who: 'caller',
  }),
  dismiss_task: tasks.post('/tasks/:task_id/dismiss', {
    summary: 'Do the one action that dismisses the task; for an approval this is no',
    who: 'caller',
  }),
} as const
