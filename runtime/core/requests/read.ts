/** Access requests: who may see them, and how they are read. */

import { and, asc, desc, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import { notFound } from '../../contract/errors/problem.ts'
import type { AccessRequest } from '../../contract/models/access-request.ts'
import { isByHand } from '../../contract/models/task.ts'
import { type Db, one } from '../../database/database.ts'
import { requestablePermissions } from '../../database/schema/app_store.ts'
import { apps } from '../../database/schema/apps.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { tasks } from '../../database/schema/tasks.ts'
import { appsOf } from '../catalogue/apps/apps.ts'
import { toPermissionBase } from '../catalogue/store/permission-base.ts'
import { toUser, usersOf } from '../directory/users.ts'
import { idEquals, idsOf, isId, rowOfId } from '../kernel/by-id.ts'
import { hasRow } from '../kernel/has-row.ts'
import { idsOfApps, isReachRefused, reach } from '../kernel/identity/app-reach.ts'
import { type Principal, requirePermission } from '../kernel/identity/principal.ts'
import { selectPage } from '../kernel/list/page.ts'
import { assignedTasks, toTasks } from '../tasks/tasks.ts'
import { detailedApps, haveDetails, plainNotes, whoToAsk } from './notes.ts'
import { type RequestParts, type ShownRequest, withItsOwn } from './shown-columns.ts'

/** Condition on requests of the caller, and those that a permission or the role of an app admin reaches. */
function seenBy(principal: Principal): SQL | undefined {
  const { userId } = principal
  const mine = or(eq(accessRequests.requesterId, userId), eq(accessRequests.targetUserId, userId))
  if (isReachRefused(principal, 'tasks.read')) return mine
  const ofApps = reach(principal, 'tasks.read')
  if (ofApps === undefined) return undefined
  return or(mine, sql`${accessRequests.appId} = any(${idsOfApps(ofApps)})`)
}

type RequestQuery = QueryOf<'list_access_requests'>

/** Lists the requests that the caller may see. */
export async function listAccessRequests(db: Db, principal: Principal, query: RequestQuery) {
  const { target_user_id: target, requester_user_id: requester, user_id: either } = query
  if (requester !== null && requester.toLowerCase() !== principal.userId)
    if (isReachRefused(principal, 'tasks.read')) requirePermission(principal, 'tasks.read')
  const ofPeople = and(
    seenBy(principal),
    idEquals(accessRequests.targetUserId, target),
    idEquals(accessRequests.requesterId, requester),
    or(idEquals(accessRequests.targetUserId, either), idEquals(accessRequests.requesterId, either)),
  )
  const statuses = [...new Set(query.statuses)]
  const { domainId } = principal
  const where = and(eq(accessRequests.domainId, domainId), ofPeople, hasStatus(statuses))
  const byStatus = ofPeople === undefined && statuses.length > 0
  const direction = query.sort?.toLowerCase() === 'desc' ? desc : asc
  const order = [direction(accessRequests.createdAt), direction(accessRequests.id)]
  const list = {
    ...{ where, order },
    total: byStatus ? countOfStatuses(domainId, statuses) : undefined,
    isIndexed: byStatus && statuses.length === 1,
  }
  return selectPage(db, accessRequests, list, query, (rows) =>
    answerRequests(db, principal, rows, query.expand),
  )
}

/** Condition on requests in any of some states; no condition if there are none. */
function hasStatus(statuses: readonly string[]): SQL | undefined {
  const [status, ...others] = statuses
  if (status === undefined) return undefined
  const { status: column } = accessRequests
  return others.length === 0
    ? sql`${column} = ${status}`
    : sql`${column} = any(${sql.param([...statuses])}::text[])`
}

/** Query for the number of requests in some states, as counted by triggers (migration 0049). */
const countOfStatuses = (domainId: string, statuses: readonly string[]): SQL => sql`
  select coalesce(sum(rows), 0)::int as n from table_changes
  where domain_id = ${domainId} and table_name = any(${sql.param(statuses.map((one) => `access_requests.${one}`))}::text[])`

/** Returns a request that the caller may see. @throws CoreError not_found */
export const findRequest = (
  db: Db,
  principal: Principal,
  id: string,
  lock = false,
): Promise<RequestRow> =>
  rowOfId(db, accessRequests, 'Access request', principal, id, {
    lock: lock && 'update',
    where: seenBy(principal),
  })

/** Returns a request that the caller may see, in its wire format. One query reads its app and people too. */
export async function getAccessRequest(
  db: Db,
  principal: Principal,
  id: string,
  expand: string[],
): Promise<AccessRequest> {
  const [found] = isId(id) ? await withItsOwn(db, id.toLowerCase()) : []
  const isOurs = found?.request.domainId === principal.domainId
  if (!isOurs || !(await sees(db, principal, found.request))) throw notFound('Access request')
  const { request, app, target, requester, revoker } = found
  const own = { apps: [app], users: [target, requester, revoker].filter((one) => one !== null) }
  return one(await answerRequests(db, principal, [request], expand, own))
}

/** Returns the requests with some ids that the caller may see, in their wire format, by id. */
export async function accessRequestsById(
  db: Db,
  principal: Principal,
  ids: readonly string[],
  expand: string[],
): Promise<ReadonlyMap<string, AccessRequest>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .select()
    .from(accessRequests)
    .where(
      and(
        inArray(accessRequests.id, [...new Set(ids)]),
        eq(accessRequests.domainId, principal.domainId),
        seenBy(principal),
      ),
    )
  const answered = await answerRequests(db, principal, rows, expand)
  return new Map(answered.map((one) => [one.id, one]))
}

/** Reports whether `seenBy` holds for a request that has been read. */
async function sees(db: Db, principal: Principal, request: ShownRequest): Promise<boolean> {
  const { userId } = principal
  if (request.requesterId === userId || request.targetUserId === userId) return true
  if (isReachRefused(principal, 'tasks.read')) return false
  const ofApps = reach(principal, 'tasks.read')
  if (ofApps === undefined) return true
  return hasRow(db, apps, eq(apps.id, request.appId), ofApps)
}

/** Formats a time without zone or fraction, for the command-line client (core-interface.md section 3). */
const zoneless = (moment: Date): string => moment.toISOString().slice(0, 19)

/** Converts requests to their wire format, as the caller may read them, in a fixed number of queries. */
export async function answerRequests(
  db: Db,
  principal: Principal,
  rows: readonly ShownRequest[],
  expand: readonly string[],
  own: Partial<RequestParts> = {},
): Promise<AccessRequest[]> {
  if (rows.length === 0) return []
  const appRows = own.apps ?? (await appsOf(db, [...new Set(rows.map(({ appId }) => appId))]))
  const appsById = new Map(appRows.map((app) => [app.id, app]))
  const detailed = await detailedApps(db, principal, [...appsById.keys()])
  const plain = rows.filter((row) => !detailed.has(row.appId) && haveDetails(row))
  const plainIds = new Set(plain.map(({ appId }) => appId))
  const asks = await whoToAsk(
    db,
    principal.domainId,
    appRows.filter(({ id }) => plainIds.has(id)),
  )
  const people = rows.flatMap((one) => [one.requesterId, one.targetUserId, one.revokedById])
  const personIds = [...new Set(people.filter((id) => id !== null))]
  const userRows = own.users ?? (await usersOf(db, personIds))
  const usersById = new Map(userRows.map((user) => [user.id, toUser(user)]))
  const permissionIds = rows.flatMap(({ permissionId: id }) => (id === null ? [] : [id]))
  const permissionRows =
    permissionIds.length === 0
      ? []
      : await db
          .select()
          .from(requestablePermissions)
          .where(inArray(requestablePermissions.id, permissionIds))
  const permissionsById = new Map(permissionRows.map((one) => [one.id, one]))
  const tasksById = expand.includes('tasks') ? await tasksOf(db, principal, rows, detailed) : null
  return rows.map((row) => {
    const app = appsById.get(row.appId)
    const permission = row.permissionId === null ? null : permissionsById.get(row.permissionId)
    const requester = row.requesterId === null ? null : usersById.get(row.requesterId)
    const target = usersById.get(row.targetUserId)
    const revoker = row.revokedById === null ? null : usersById.get(row.revokedById)
    if (!app || !target) throw new Error('an access request without its app or its person')
    return {
      id: row.id,
      app_id: row.appId,
      app_name: app.name,
      // For a policy's request: clients cannot read a request without a requester.
      requester_user: requester ?? target,
      target_user: target,
      supporter_user: null,
      status: row.status,
      is_break_glass: row.isBreakGlass,
      revoked_by: revoker ?? null,
      notes: detailed.has(row.appId) ? row.notes : plainNotes(row.notes, asks.get(row.appId)),
      expires_at: row.expiresAt === null ? null : zoneless(row.expiresAt),
      expiration_in_seconds: row.expirationInSeconds,
      requestable_permissions: permission ? [toPermissionBase(permission, app)] : [],
      requested_at: zoneless(row.createdAt),
      tasks: tasksById === null ? null : (tasksById.get(row.id) ?? []),
      custom_fields: expand.includes('custom_fields') ? [] : null,
    }
  })
}

/**
 * Returns the tasks of requests. Instructions of manual work are only for its assignees, and for people who
 * may read all tasks of the app.
 */
async function tasksOf(
  db: Db,
  { userId }: Principal,
  rows: readonly Pick<RequestRow, 'id'>[],
  detailed: ReadonlySet<string>,
) {
  const found = await db
    .select()
    .from(tasks)
    .where(inArray(tasks.accessRequestId, idsOf(rows)))
    .orderBy(asc(tasks.createdAt), asc(tasks.id))
  const mine = await db
    .select({ id: tasks.id })
    .from(tasks)
    .where(and(inArray(tasks.accessRequestId, idsOf(rows)), await assignedTasks(db, userId)))
  const readable = new Set(idsOf(mine))
  const answered = (await toTasks(db, found, ['assignees', 'actions'])).map((task) =>
    // Instructions of manual work contain the failure.
    isByHand(task.task_category) && !readable.has(task.id) && !detailed.has(task.app?.id ?? '')
      ? { ...task, instructions: null }
      : task,
  )
  const byId = new Map<string, typeof answered>()
  for (const task of answered)
    byId.set(task.access_request_id ?? '', [
      ...(byId.get(task.access_request_id ?? '') ?? []),
      task,
    ])
  return byId
}
