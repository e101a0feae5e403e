/** Changes that require a comparison with the policies. The database keeps them, so that none is lost. */
import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import { accessPolicies, policyWants } from '../../database/schema/policies.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { MANY_USERS } from '../kernel/context/listeners.ts'
import { wakeRequestsOf } from '../requests/wake-requests.ts'

/** Id before every user's id: the start of a sweep. */
const NOBODY_YET = '00000000-0000-0000-0000-000000000000'

/** Key of the job that compares changed users. */
export const CHANGED_USERS = 'users'

/**
 * Records changes of users (attributes, status, manager) in the transaction that makes them. In the
 * background, the policies are compared with the users, and requests that await their decision are examined
 * again. Call it after writing the users.
 *
 * @param deps null if no background work can be queued; the changes are then found within two seconds
 */
export async function usersChanged(
  tx: Db,
  domainId: string,
  userIds: readonly string[] | 'all',
  deps: Pick<CoreContext, 'send'> | null,
): Promise<void> {
  if (userIds.length === 0) return
  await wakeRequestsOf(tx, domainId, userIds)
  if (userIds === 'all' || userIds.length > MANY_USERS) return everybodyChanged(tx, domainId, deps)
  await tx.execute(sql`
    insert into ${policyWants} (user_id, domain_id)
    select id, domain_id from ${users}
    where domain_id = ${domainId} and id = any(${sql.param([...userIds])}::uuid[]) order by id
    on conflict (user_id) do update set attempts = 0, wake_at = now()`)
  await deps?.send(tx, 'access-policies', CHANGED_USERS)
}

async function everybodyChanged(
  tx: Db,
  domainId: string,
  deps: Pick<CoreContext, 'send'> | null,
): Promise<void> {
  const rows = await sweepAll(tx, eq(accessPolicies.domainId, domainId))
  for (const { id } of rows) await deps?.send(tx, 'access-policies', id)
}

/** Columns that restart the sweep of a policy over all users. */
export const sweepAgain = {
  sweptTo: NOBODY_YET,
  sweep: sql`${accessPolicies.sweep} + 1`,
  swept: { users: 0, given: 0, taken: 0 },
}

/** Restarts the policies that grant access in an app, in the transaction that changes the app. */
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
