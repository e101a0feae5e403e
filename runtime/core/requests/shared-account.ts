/** What a request that ended has left to others: revoked when the last of them leaves, and no sooner. */
import { and, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { OPEN_STATES } from '../../database/schema/tasks.ts'
import { lockedRow } from '../kernel/by-id.ts'
import { keepProvisionedAccount, provisionedAccountOf } from '../provisioning/account.ts'
import { statesThatAre } from './machine/states.ts'
import { holdsMore, ofPair, sameThing } from './overlapping-grants.ts'

/** Notes that a request for the app ends, and that its account stays open for the requests that still need it. */
export const leaveOpen = (db: Db, request: RequestRow): Promise<void> =>
  keepProvisionedAccount(db, request, { leftBy: request.id })

/**
 * Releases an account that was left open, once no request needs it any more.
 *
 * @returns the locked request that left it, if the account is still to be closed; else null
 */
export async function releaseAccount(tx: Db, request: RequestRow): Promise<RequestRow | null> {
  const { leftBy } = await provisionedAccountOf(tx, request, request.domainId)
  if (leftBy === null || (await holdsMore(tx, request))) return null
  const left = await lockedRow(tx, accessRequests, leftBy)
  await keepProvisionedAccount(tx, request, { leftBy: null })
  return left?.pendingOperation === null ? left : null
}

/**
 * The requests, locked, for which people were asked to revoke by hand what this request was granted, or to close its
 * account. They need not any more: those requests are looked at again, and leave it to this one.
 */
export const revokedByHandFor = (tx: Db, request: RequestRow): Promise<RequestRow[]> =>
  tx
    .select()
    .from(accessRequests)
    .where(
      and(
        ofPair(request),
        ne(accessRequests.id, request.id),
        or(sameThing(request), isNull(accessRequests.label)),
        inArray(accessRequests.status, ['PENDING_MANUAL_DEPROVISIONING', ...statesThatAre('over')]),
        isNull(accessRequests.pendingOperation),
        sql`exists (select from tasks where access_request_id = ${accessRequests.id} and task_category = 'DEPROVISIONING' and status in (${OPEN_STATES}))`,
      ),
    )
    .for('update')
