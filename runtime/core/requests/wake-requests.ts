/** Wakes requests whose approvers have left at once, instead of at their daily check. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { OPEN_STATES } from '../../database/schema/tasks.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'
import { statesThatAre } from './machine/states.ts'

/** Maximum number of requests woken at once. The others wait for their daily check. */
const MAX_WOKEN = 1000

/**
 * Wakes the open requests assigned to users who may no longer act, directly or through a group. Call it after
 * writing the users. A request locked by another transaction is left to its daily check: waiting for it could
 * deadlock.
 */
export async function wakeRequestsOf(
  tx: Db,
  domainId: string,
  userIds: readonly string[] | 'all',
): Promise<void> {
  const some = userIds === 'all' ? sql`` : sql`and id = any(${sql.param([...userIds])}::uuid[])`
  await tx.execute(sql`
    with gone as (
      select id from users
      where domain_id = ${domainId} and not (${usersWhoMayAct('users')}) ${some}
    ), asked as (
      select task_id from task_assignees where user_id in (select id from gone)
      union
      select task_id from task_assignees where group_id in
        (select group_id from group_members where user_id in (select id from gone))
    ), waiting as (
      select id from access_requests
      where status = any(${sql.param(statesThatAre('asked'))}::text[]) and todo is null and id in
        (select access_request_id from tasks
          where id in (select task_id from asked) and status in (${OPEN_STATES}))
      order by id limit ${MAX_WOKEN} for update skip locked
    )
    update access_requests set wake_at = now() where id in (select id from waiting)`)
}
