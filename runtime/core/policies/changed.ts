/** What wants to be compared with the policies: kept in the record, so that nothing of it is lost. */
import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import { accessPolicies, policyWants } from '../../database/schema/policies.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { MANY_USERS } from '../kernel/context/listeners.ts'
import { wakeAsked } from '../requests/wake-asked.ts'

/** Behind no user: where looking at everybody begins. */
const NOBODY_YET = '00000000-0000-0000-0000-000000000000'

/** Key of the job that looks at users who changed. */
export const CHANGED_USERS = 'users'

/**
 * Notes that users changed, within the transaction that changes them: attributes, status, manager. The
 * policies are compared with them in the background, and requests that they were asked to decide on are looked
 * at again. Call it after the users were written.
 *
 * @param means Null where no background work can be told: then it is found within two seconds.
 */
export async function usersChanged(
  tx: Db,
  domainId: string,
  userIds: readonly string[] | 'all',
  means: Pick<CoreContext, 'send'> | null,
): Promise<void> {
  if (userIds.length === 0) return
  await wakeAsked(tx, domainId, userIds)
  if (userIds === 'all' || userIds.length > MANY_USERS) return everybodyChanged(tx, domainId, means)
  await tx.execute(sql`
    insert into ${policyWants} (user_id, domain_id)
    select id, domain_id from ${users}
    where domain_id = ${domainId} and id = any(${sql.param([...userIds])}::uuid[]) order by id
    on conflict (user_id) do update set attempts = 0, wake_at = now()`)
  await means?.send(tx, 'access-policies', CHANGED_USERS)
}

async function everybodyChanged(
  tx: Db,
  domainId: string,
  means: Pick<CoreContext, 'send'> | null,
): Promise<void> {
  const rows = await sweepAll(tx, eq(accessPolicies.domainId, domainId))
  for (const { id } of rows) await means?.send(tx, 'access-policies', id)
}

/** Has everybody looked at from the beginning. */
export const sweepAgain = {
  sweptTo: NOBODY_YET,
  sweep: sql`${accessPolicies.sweep} + 1`,
  swept: { users: 0, given: 0, taken: 0 },
}

/** Has policies looked at that give something in an app, within the transaction in which that changes. */
export async function appChanged(
  tx: Db,
  { id, domainId }: { id: string; domainId: string },
): Promise<void> {
  const names = sql`${accessPolicies.apps} @> ${JSON.stringify([{ id }])}::jsonb`
  await sweepAll(tx, and(eq(accessPolicies.domainId, domainId), names))
}

/** Locks in the order of ids, to prevent deadlocks. */
async function sweepAll(tx: Db, which: SQL | undefined): Promise<{ id: string }[]> {
  const { id } = accessPolicies
  const rows = await tx
    .select({ id })
    .from(accessPolicies)
    .where(which)
    .orderBy(asc(id))
    .for('no key update')
  const ids = rows.map((row) => row.id)
  if (ids.length > 0) await tx.update(accessPolicies).set(sweepAgain).where(inArray(id, ids))
  return rows
}
