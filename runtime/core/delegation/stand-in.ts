/** Whose decisions a person may make now, as their delegate; and who stands in for some people. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'

/** The condition that a delegation `d` of the person `u` counts now. Who may not act hands nothing on. */
const COUNTS: SQL = sql`d.ended_at is null and d.since <= clock_timestamp() and d.until > clock_timestamp()
  and ${usersWhoMayAct('u')}`

/** Ids of those in whose place a person decides now, sorted. */
export async function delegatorsOf(db: Db, userId: string): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    select distinct d.user_id as id from delegations d join users u on u.id = d.user_id
    where d.delegate_id = ${userId} and ${COUNTS} order by 1`)
  return rows.map(({ id }) => id)
}

/** Who decides in the place of some people now. */
export async function delegatesOf(
  db: Db,
  userIds: readonly string[],
): Promise<{ userId: string; delegateId: string }[]> {
  if (userIds.length === 0) return []
  const { rows } = await db.execute<{ user_id: string; delegate_id: string }>(sql`
    select distinct d.user_id, d.delegate_id from delegations d
    join users u on u.id = d.user_id join users s on s.id = d.delegate_id
    where d.user_id = any(${sql.param([...userIds])}::uuid[]) and ${COUNTS}
      and ${usersWhoMayAct('s')} order by 1, 2`)
  return rows.map(({ user_id, delegate_id }) => ({ userId: user_id, delegateId: delegate_id }))
}

/**
 * In whose place a person decides, of those who were asked: null for none. Who is a party decides neither themselves nor
 * by a delegate, and no delegate of theirs decides because of them.
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
