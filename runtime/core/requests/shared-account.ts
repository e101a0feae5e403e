/** What a request that ended has left to others: taken when the last of them leaves, and no sooner. */
import { and, eq, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import { holderOf, keepHolder } from '../provisioning/account.ts'
import type { RequestMeans } from './job-key.ts'
import type { RequestRow } from './move.ts'
import { holdsMore, ofPair, sameThing } from './overlapping-grants.ts'
import { statesThatAre } from './states.ts'
import { takeAnew } from './transitions.ts'

/** Notes that a request for the app ends, and that its account stays open for those who still stand. */
export const leaveOpen = (db: Db, request: RequestRow): Promise<void> =>
  keepHolder(db, request, { leftBy: request.id })

/** Once a locked request has left: an account that was left open, and that nobody needs any more, is to be closed. */
export async function closeLeft(tx: Db, request: RequestRow, means: RequestMeans): Promise<void> {
  const { leftBy } = await holderOf(tx, request, request.domainId)
  if (leftBy === null || (await holdsMore(tx, request))) return
  const [left] = await tx
    .select()
    .from(accessRequests)
    .where(eq(accessRequests.id, leftBy))
    .for('update')
  await keepHolder(tx, request, { leftBy: null })
  if (left && left.todo === null) await takeAnew(tx, left, means)
}

/**
 * Something was given: people who were asked to take the same thing back by hand, or to close its account,
 * need not any more. The request that asked them is looked at again, and leaves it to this one.
 */
export async function recall(tx: Db, request: RequestRow, means: RequestMeans): Promise<void> {
  const asked = await tx
    .select()
    .from(accessRequests)
    .where(
      and(
        ofPair(request),
        ne(accessRequests.id, request.id),
        or(sameThing(request), isNull(accessRequests.label)),
        inArray(accessRequests.status, ['PENDING_MANUAL_DEPROVISIONING', ...statesThatAre('over')]),
        isNull(accessRequests.todo),
        sql`exists (select from tasks where access_request_id = ${accessRequests.id} and task_category = 'DEPROVISIONING' and status in ('PENDING', 'ACCEPTED', 'BLOCKED', 'STAGED'))`,
      ),
    )
    .for('update')
  for (const one of asked) await takeAnew(tx, one, means)
}
