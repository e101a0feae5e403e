/** Which function answers which endpoint: one line each, nothing else. */

import type { Endpoint, EndpointInput } from '../../contract/endpoints/endpoint.ts'
import type { ENDPOINTS, EndpointName } from '../../contract/endpoints/table.ts'
import { listActivity } from '../../core/activity.ts'
import * as apps from '../../core/apps.ts'
import type { RequestParts } from '../../core/parts.ts'
import type { Principal } from '../../core/principal.ts'
import * as tasks from '../../core/tasks.ts'
import * as users from '../../core/users.ts'
import type { Db } from '../../database/database.ts'
import { VERSION } from '../../version.ts'

type Handler<E extends Endpoint> = (
  db: Db,
  principal: Principal,
  input: EndpointInput<E>,
  parts: RequestParts,
) => Promise<unknown>

export const HANDLERS: { [N in EndpointName]: Handler<(typeof ENDPOINTS)[N]> } = {
  get_current_user: (db, who) => users.getCurrentUser(db, who),
  list_users: (db, who, { query }) => users.listUsers(db, who, query),
  get_user: (db, who, { params, query }) =>
    users.getUser(db, who, id(params, 'user_id'), query.expand),
  list_user_roles: (db, who, { params }) => users.listRoles(db, who, id(params, 'user_id')),
  add_user_role: (db, who, { params }) =>
    users.addRole(db, who, id(params, 'user_id'), id(params, 'role_name')),
  remove_user_role: (db, who, { params }) =>
    users.removeRole(db, who, id(params, 'user_id'), id(params, 'role_name')),
  list_groups: (db, who, { query }) => users.listGroups(db, who, query),
  get_group: (db, who, { params }) => users.getGroup(db, who, id(params, 'group_id')),
  list_group_users: (db, who, { params, query }) =>
    users.listGroupUsers(db, who, id(params, 'group_id'), query),
  list_apps: (db, who, { query }) => apps.listApps(db, who, query),
  get_app: (db, who, { params, query }) => apps.getApp(db, who, id(params, 'app_id'), query.expand),
  list_tasks: (db, who, { query }) => tasks.listTasks(db, who, query),
  get_task: (db, who, { params, query }) =>
    tasks.getTask(db, who, id(params, 'task_id'), query.expand),
  list_task_actions: (db, who, { params }) => tasks.listTaskActions(db, who, id(params, 'task_id')),
  perform_task_action: (db, who, { params, body }) =>
    tasks.performTaskAction(db, who, id(params, 'task_id'), body),
  reassign_task: (db, who, { params, body }) =>
    tasks.reassignTask(db, who, id(params, 'task_id'), body),
  comment_on_task: (db, who, { params, body }) =>
    tasks.commentOnTask(db, who, id(params, 'task_id'), body),
  complete_task: (db, who, { params }) => tasks.completeTask(db, who, id(params, 'task_id')),
  dismiss_task: (db, who, { params }) => tasks.dismissTask(db, who, id(params, 'task_id')),
  list_activity_logs: (db, who, { query }) => listActivity(db, who, query),
  get_info: async () => ({ name: 'Keyway', version: VERSION }),
}

const id = (params: Record<string, string>, name: string): string => params[name] ?? ''
