/** Checks whether an offboarded user has anything left for another offboarding to take. */
import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import { conflict } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { accounts } from '../../database/schema/apps.ts'
import { offboardingSteps, userOffboardings } from '../../database/schema/offboarding.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import { statesThatAre } from '../requests/machine/states.ts'
import { knownAccounts } from './accounts.ts'

type Leaver = { id: string; status?: string | null | undefined }

/** Returns the number of a user's requests that are open or whose access still exists. */
export const openRequests = (db: Db, userId: string): Promise<number> =>
  db.$count(
    accessRequests,
    and(
      eq(accessRequests.targetUserId, userId),
      inArray(accessRequests.status, statesThatAre('asked', 'wanted')),
    ),
  )

/**
 * Reports whether a user has left for good: the last offboarding is complete and closed every known account,
 * no account was found in use again, and no requests are open.
 */
export async function hasLeft(db: Db, { id, status }: Leaver): Promise<boolean> {
  if (status !== 'INACTIVE') return false
  const [last] = await db
    .select({ id: userOffboardings.id, status: userOffboardings.status })
    .from(userOffboardings)
    .where(eq(userOffboardings.userId, id))
    .orderBy(desc(userOffboardings.createdAt), desc(userOffboardings.id))
    .limit(1)
  if (last?.status !== 'COMPLETED') return false
  const { rows } = await db.execute<{ n: number }>(sql`
    select count(*)::int as n from (${knownAccounts(id)}) as known
    where not exists (
      select 1 from ${offboardingSteps} step
      where step.offboarding_id = ${last.id} and step.app_id = known.app_id
        and step.account = known.account and step.state = 'done')
    or exists (
      select 1 from ${accounts} held
      where held.app_id = known.app_id and held.unique_identifier = known.account
        and held.status in ('ACTIVE', 'ACCESS_CREATED'))`)
  return rows[0]?.n === 0 && (await openRequests(db, id)) === 0
}

/** Requires that a user has not left. @throws CoreError `conflict` if they have */
export async function requireNotLeft(db: Db, user: Leaver): Promise<void> {
  if (await hasLeft(db, user))
    throw conflict('This user has been offboarded and has no access left')
}
