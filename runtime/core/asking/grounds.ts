/** Facts for deciding a task: what is requested, what the person holds, who else holds the same. */
import { and, desc, eq, sql } from 'drizzle-orm'
import { forbidden } from '../../contract/errors/problem.ts'
import { MAX_GROUND_FINDINGS, type TaskGrounds } from '../../contract/models/asking.ts'
import type { SeparationConflict } from '../../contract/models/separation.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { findings } from '../../database/schema/findings.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import { accessInApp } from '../catalogue/apps/access.ts'
import { toUser, usersOf } from '../directory/users.ts'
import { associationSpansOf } from '../history/association-spans.ts'
import { type Principal, usersWhoMayAct } from '../kernel/identity/principal.ts'
import { decisionEnd } from '../requests/machine/deciding.ts'
import { standingOf } from '../requests/machine/states.ts'
import { requestOfTask } from '../requests/task-outcome.ts'
import { conflictsOf, toConflicts } from '../separation/check.ts'
import { findTask, mayActOn } from '../tasks/tasks.ts'
import { heldBeside } from './extension.ts'

const MAX_HELD = 50
const MAX_BEFORE = 5
const MAX_COLLEAGUES = 1000

/**
 * Returns the facts, only to people who may act on the task: what a person holds is not public. Facts about a
 * request are null or empty if the task has none.
 *
 * @throws CoreError `forbidden`, `not_found`
 */
export async function taskGrounds(
  db: Db,
  principal: Principal,
  taskId: string,
): Promise<TaskGrounds> {
  const task = await findTask(db, principal, taskId)
  if (!(await mayActOn(db, principal, task)))
    throw forbidden('The task is not assigned to you: you may read it')
  const request = await requestOfTask(db, task.accessRequestId)
  const appId = request?.appId ?? task.appId
  const targetId = request?.targetUserId ?? task.targetUserId
  const ids = [targetId, request?.requesterId ?? null].filter((id) => id !== null)
  const people = await usersOf(db, ids)
  const target = people.find(({ id }) => id === targetId)
  const [manager] = target?.managerId ? await usersOf(db, [target.managerId]) : []
  const [app] =
    appId === null ? [] : await db.select({ name: apps.name }).from(apps).where(eq(apps.id, appId))
  const requester = people.find(({ id }) => id === request?.requesterId)
  const asked = request !== null && standingOf(request.status) === 'asked'
  return {
    task_id: task.id,
    app_name: app?.name ?? null,
    permission_label: request?.label ?? null,
    requester_user: requester ? toUser(requester) : null,
    target_user: target ? toUser(target) : null,
    manager_user: manager ? toUser(manager) : null,
    business_justification: request?.notes['PENDING'] ?? null,
    expiration_in_seconds: request?.expirationInSeconds ?? null,
    asked_at: request?.createdAt.toISOString() ?? null,
    decide_until: asked ? decisionEnd(request).toISOString() : null,
    holds: target && appId !== null ? await accessInApp(db, target.id, appId, MAX_HELD) : [],
    held_now: request ? await toldNow(db, request) : null,
    held_before: request ? await heldBefore(db, request) : [],
    colleagues:
      request && target?.managerId
        ? await colleaguesOf(db, request, target.managerId)
        : { count: 0, holding: 0 },
    findings: target && appId !== null ? await findingsAbout(db, target.id, appId) : [],
    separation_of_duties: request && asked ? await conflictsWith(db, request) : [],
  }
}

/** Returns open findings about the person's access in the app, which is in the same domain as the person. */
async function findingsAbout(
  db: Db,
  userId: string,
  appId: string,
): Promise<TaskGrounds['findings']> {
  const rows = await db
    .select()
    .from(findings)
    .where(and(eq(findings.userId, userId), eq(findings.appId, appId), eq(findings.state, 'OPEN')))
    .orderBy(desc(findings.openedAt), desc(findings.id))
    .limit(MAX_GROUND_FINDINGS)
  return rows.map(({ id, kind, details: { label }, openedAt }) => ({
    ...{ id, kind, opened_at: openedAt.toISOString() },
    label: typeof label === 'string' ? label : null,
  }))
}

const conflictsWith = async (db: Db, request: RequestRow): Promise<SeparationConflict[]> => {
  const { domainId, targetUserId: userId, appId, permissionId, id: requestId } = request
  const asked = { domainId, userId, appId, permissionId, requestId }
  return toConflicts(db, await conflictsOf(db, asked))
}

/** Condition on `reason_spans`: the same thing as that of a request. */
const sameReason = ({ appId, label }: RequestRow) =>
  sql`s.app_id = ${appId} and s.label is not distinct from ${label}::text`

async function toldNow(db: Db, request: RequestRow): Promise<TaskGrounds['held_now']> {
  const held = await heldBeside(db, request)
  return held && { until: held.until?.toISOString() ?? null }
}

async function heldBefore(db: Db, request: RequestRow): Promise<TaskGrounds['held_before']> {
  type Row = { since: Date; until: Date; why: string | null; by: string | null }
  const { rows } = await db.execute<Row>(sql`
    select s.since, s.until, r.notes ->> 'REVERTING' as why, r.revoked_by_id as by
    from reason_spans s left join access_requests r on r.id = s.request_id
    where s.user_id = ${request.targetUserId} and ${sameReason(request)} and s.until is not null
    order by s.since desc, s.id desc limit ${MAX_BEFORE}`)
  return rows.map(({ since, until, why, by }) => ({
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    ...{ end_reason: why, revoked_by_user_id: by },
  }))
}

/**
 * Counts the other people with the same manager, and those of them who hold the same access by a request, by
 * a policy, or as found by a sync.
 */
async function colleaguesOf(
  db: Db,
  request: RequestRow,
  managerId: string,
): Promise<TaskGrounds['colleagues']> {
  const { appId, permissionId, targetUserId } = request
  const account = sql`select from account_spans a where a.user_id = people.id and a.app_id = ${appId} and a.until is null`
  // For the app itself, an account is enough.
  const seen =
    request.label === null
      ? sql`exists (${account})`
      : sql`exists (select from requestable_permissions p
          cross join lateral (select * from entitlements x where x.app_id = p.app_id
            and md5(x.resource_id || chr(1) || x.external_id) = md5(p.resource_id || chr(1) || p.entitlement_id) limit 1) e
          join account_spans a on a.app_id = e.app_id and a.user_id = people.id and a.until is null
          cross join lateral ${associationSpansOf({
            domainId: sql`a.domain_id`,
            appId: sql`a.app_id`,
            accountId: sql`a.account_id`,
            entitlementId: sql`e.id`,
          })} h
          where p.id = ${permissionId}::uuid and e.entitlement_type = p.entitlement_type and h.until is null)`
  const { rows } = await db.execute<{ count: string; holding: string }>(sql`
    with people as materialized (
      select id from users where manager_id = ${managerId} and id <> ${targetUserId}
        and ${usersWhoMayAct('users')} limit ${MAX_COLLEAGUES}
    )
    select count(*) as count, count(*) filter (where exists (
        select from reason_spans s where s.user_id = people.id and ${sameReason(request)} and s.until is null
      ) or ${seen}) as holding
    from people`)
  return { count: Number(rows[0]?.count ?? 0), holding: Number(rows[0]?.holding ?? 0) }
}
