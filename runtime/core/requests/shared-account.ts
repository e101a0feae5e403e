/** Shared account of a person in an app, left open by an ended request while others need it. */
import { and, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { OPEN_STATES } from '../../database/schema/tasks.ts'
import { lockedRow } from '../kernel/by-id.ts'
import { keepProvisionedAccount, provisionedAccountOf } from '../provisioning/account.ts'
import { statesThatAre } from './machine/states.ts'
import { holdsMore, ofPair, sameThing } from './overlapping-grants.ts'

/** Records that a request for the app ends and its account stays open for requests that still need it. */
export const recordSharedAccount = (db: Db, request: RequestRow): Promise<void> =>
  keepProvisionedAccount(db, request, { leftBy: request.id })

/**
 * Releases an account that was left open, once no request needs it.
 *
 * @returns the locked request that left it open, if the account is still to be closed, else null
 */
export async function releaseAccount(tx: Db, request: RequestRow): Promise<RequestRow | null> {
  const { leftBy } = await provisionedAccountOf(tx, request, request.domainId)
  if (leftBy === null || (await holdsMore(tx, request))) return null
  const left = await lockedRow(tx, accessRequests, leftBy)
  await keepProvisionedAccount(tx, request, { leftBy: null })
  return left?.pendingOperation === null ? left : null
}

/**
 * Returns, locked, the requests whose task asks people to revoke the access that this request was granted, or
 * to close its account. The tasks are no longer needed: those requests are examined again and leave the
 * access to this one.
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
