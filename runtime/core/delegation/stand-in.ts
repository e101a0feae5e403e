/** Delegations in force: the people a delegate decides for, and the delegates of some people. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'

/** Condition that a delegation `d` by the person `u` is in force. A user who may not act cannot delegate. */
const COUNTS: SQL = sql`d.ended_at is null and d.since <= clock_timestamp() and d.until > clock_timestamp()
  and ${usersWhoMayAct('u')}`

/** Returns the sorted ids of the people a user currently decides for. */
export async function delegatorsOf(db: Db, userId: string): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    select distinct d.user_id as id from delegations d join users u on u.id = d.user_id
    where d.delegate_id = ${userId} and ${COUNTS} order by 1`)
  return rows.map(({ id }) => id)
}

/**
 * Returns the delegates who may currently decide tasks of requests for their assignees, direct or through a
 * group. Excludes the parties of the request and their delegates.
 */
export async function standInsOn(
  db: Db,
  taskIds: readonly string[],
): Promise<{ taskId: string; delegateId: string }[]> {
  if (taskIds.length === 0) return []
  const { rows } = await db.execute<{ task_id: string; delegate_id: string }>(sql`
    with asked as (
      select a.task_id, a.user_id, a.group_id, r.requester_id, r.target_user_id from task_assignees a
      join tasks t on t.id = a.task_id join access_requests r on r.id = t.access_request_id
      where a.task_id = any(${sql.param([...taskIds])}::uuid[])),
    given as (
      select distinct d.user_id, d.delegate_id from delegations d
      join users u on u.id = d.user_id join users s on s.id = d.delegate_id
      where ${COUNTS} and ${usersWhoMayAct('s')} and (d.user_id in (select user_id from asked)
        or d.user_id in (select m.user_id from group_members m where m.group_id in (select group_id from asked))))
    select distinct task_id, delegate_id from asked join given
      on given.user_id = asked.user_id or exists (select from group_members m
        where m.group_id = asked.group_id and m.user_id = given.user_id)
    where given.user_id is distinct from requester_id and given.user_id <> target_user_id
      and delegate_id is distinct from requester_id and delegate_id <> target_user_id order by 1, 2`)
  return rows.map(({ task_id, delegate_id }) => ({ taskId: task_id, delegateId: delegate_id }))
}

/**
 * Returns the approver that a caller represents as a delegate, or null. A party of the request decides
 * neither in person nor as a delegate, and no delegate decides for a party.
 */
export function standsInFor(
  caller: string,
  {
    asked,
    delegators,
    parties,
  }: { asked: readonly string[]; delegators: readonly string[]; parties: readonly string[] },
): string | null {
  if (parties.includes(caller)) return null
  return delegators.find((id) => asked.includes(id) && !parties.includes(id)) ?? null
}
