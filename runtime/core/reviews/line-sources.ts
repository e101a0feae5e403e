/** Requests and policies that hold a line. They are reverted before the line is removed in the system. */
import { and, asc, eq, gte, inArray, isNotNull, or, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { requestablePermissions } from '../../database/schema/app_store.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import type { ItemRow, ReviewAppRow, ReviewRow } from '../../database/schema/reviews.ts'
import { revert } from '../requests/cancel.ts'
import { standingOf, statesThatAre } from '../requests/machine/states.ts'
import type { RequestDeps } from '../requests/request-deps.ts'
import { entitlementOf } from './remove-line.ts'

/**
 * State of the requests that hold a line:
 * - free: none holds it
 * - under way: they are being reverted, or wait for the background
 * - manual: a person has a request's task to revoke it
 * - declined: a person decided to keep the access that a request granted
 */
type HeldBy = 'free' | 'under way' | 'manual' | 'declined'

/** Reverts the requests that hold a line, and returns their state. */
export async function endRequests(
  tx: Db,
  item: ItemRow,
  { removalAt }: ReviewAppRow,
  review: ReviewRow,
  deps: RequestDeps,
): Promise<HeldBy> {
  if (item.userId === null) return 'free'
  const rows = await tx
    .select()
    .from(accessRequests)
    .where(
      and(
        eq(accessRequests.carriedAppId, item.appId),
        eq(accessRequests.targetUserId, item.userId),
        forThis(item),
        or(
          inArray(accessRequests.status, statesThatAre('wanted', 'unwanted')),
          isNotNull(accessRequests.pendingOperation),
          and(
            eq(accessRequests.status, 'TIME_BASED_EXPIRED_CANCELLED'),
            gte(accessRequests.updatedAt, removalAt ?? new Date(0)),
          ),
        ),
      ),
    )
    .orderBy(asc(accessRequests.id))
    .for('update')
  const why = `Removed by the access review “${review.name}”`
  for (const request of rows)
    if (standingOf(request.status) === 'wanted') await revert(tx, request, why, deps)
  if (rows.length === 0) return 'free'
  const left = rows.filter(
    ({ status, pendingOperation }) => standingOf(status) !== 'over' || pendingOperation !== null,
  )
  if (left.length === 0) return 'declined'
  const isWaiting = ({ status, pendingOperation }: (typeof rows)[number]) =>
    status === 'PENDING_MANUAL_DEPROVISIONING' && pendingOperation === null
  return left.every(isWaiting) ? 'manual' : 'under way'
}

/** Condition on requests for the line's entitlement or, for an account, all requests in its app. */
function forThis(item: ItemRow) {
  const entitlement = entitlementOf(item)
  if (entitlement === null) return undefined
  const { entitlementId, resourceId } = entitlement
  const permissions = sql`(select ${requestablePermissions.id} from ${requestablePermissions}
    where ${requestablePermissions.appId} = ${item.appId}
      and ${requestablePermissions.entitlementId} = ${entitlementId}
      and coalesce(${requestablePermissions.resourceId}, '') = ${resourceId})`
  return or(
    sql`(${accessRequests.entitlement} ->> 'entitlementId' = ${entitlementId}
      and ${accessRequests.entitlement} ->> 'resourceId' = ${resourceId})`,
    sql`${accessRequests.permissionId} in ${permissions}`,
  )
}
