/** Reminders to approvers from the person who waits, at most one a day for each decision. */
import { inArray, type SQL, sql } from 'drizzle-orm'
import { conflict, forbidden } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { ACTIONABLE_STATES, DECISION_CATEGORIES, tasks } from '../../database/schema/tasks.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { isId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { findRequest } from '../requests/read.ts'
import { taskTarget } from '../tasks/tasks.ts'
import { say } from './comment.ts'

const PAUSE = sql`clock_timestamp() - interval '1 day'`

/**
 * Open decisions on requests by or for the caller, opened over a day ago, with no recent comment by a party.
 */
const waitingLong = ({ domainId, userId }: Principal, requestIds: readonly string[]): SQL => sql`
  select t.id, r.id as request_id from access_requests r
  join tasks t on t.access_request_id = r.id and t.status in (${ACTIONABLE_STATES})
    and t.task_category in (${DECISION_CATEGORIES})
  where r.domain_id = ${domainId} and r.id = any(${sql.param([...requestIds])}::uuid[])
    and ${userId}::uuid in (r.requester_id, r.target_user_id) and t.created_at < ${PAUSE}
    and not exists (select from task_comments c where c.task_id = t.id and c.created_at > ${PAUSE}
      and c.created_by_id in (r.requester_id, r.target_user_id))`

/** Returns the requests, among those given, that the caller may send a reminder for now. */
export async function remindableOf(
  db: Db,
  principal: Principal,
  requestIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const ids = requestIds.filter(isId)
  if (ids.length === 0) return new Set()
  const { rows } = await db.execute<{ request_id: string }>(waitingLong(principal, ids))
  return new Set(rows.map((row) => row.request_id))
}

/**
 * Reminds the current approvers of a request. The caller's text becomes a comment on the task.
 *
 * @throws CoreError `forbidden` if the caller is neither requester nor target user, `not_found`, `conflict`
 * if no decision is open or it is too soon
 */
export async function remindApprovers(
  db: Db,
  principal: Principal,
  id: string,
  comment: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const request = await findRequest(tx, principal, id, true)
    if (![request.requesterId, request.targetUserId].includes(principal.userId))
      throw forbidden('Only the requester and the person to receive the access can send a reminder')
    const { rows } = await tx.execute<{ id: string }>(waitingLong(principal, [request.id]))
    if (rows.length === 0)
      throw conflict(
        'No one is deciding on it now, or the approvers were asked or reminded less than a day ago; wait until a day has passed',
      )
    const ids = rows.map((row) => row.id)
    for (const task of await tx.select().from(tasks).where(inArray(tasks.id, ids))) {
      await say(tx, principal, task, comment)
      await recordActivity(tx, principal, 'TASK_REMINDED', [taskTarget(task)], {
        access_request_id: request.id,
      })
    }
  })
}
