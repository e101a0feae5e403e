/** Relations between requests of one person in one system: which need the access that another granted. */
import { and, eq, inArray, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { hasRow } from '../kernel/has-row.ts'
import type { Pair } from '../provisioning/pair.ts'
import { standingOf, statesThatAre } from './machine/states.ts'

/** Condition on requests of a person in an app. */
export const ofPair = ({ carriedAppId, targetUserId }: Pair) =>
  and(eq(accessRequests.carriedAppId, carriedAppId), eq(accessRequests.targetUserId, targetUserId))

/** Returns other requests of the person for the same item that hold or are losing the access. */
export async function overlappingGrants(db: Db, request: RequestRow): Promise<RequestRow[]> {
  return db
    .select()
    .from(accessRequests)
    .where(
      and(
        ofPair(request),
        ne(accessRequests.id, request.id),
        sameThing(request),
        or(
          inArray(accessRequests.status, statesThatAre('wanted', 'unwanted')),
          isNotNull(accessRequests.pendingOperation),
        ),
      ),
    )
}

/** Condition on requests for the app itself, or for a permission, by its id or by its entitlement. */
export function sameThing({ label, entitlement, permissionId }: RequestRow) {
  if (label === null) return isNull(accessRequests.label)
  return or(
    permissionId === null ? undefined : eq(accessRequests.permissionId, permissionId),
    entitlement === null
      ? undefined
      : sql`${accessRequests.entitlement} = ${JSON.stringify(entitlement)}::jsonb`,
    // A deleted permission that no other can stand for.
    sql`false`,
  )
}

/**
 * Reports whether a request continues to hold the access that another one granted. One that is still to be
 * granted does not: a revocation already sent may be in progress. Nor does one that waits for manual work: if
 * cancelled, it revokes nothing.
 */
export const inherits = ({ status, fulfilment, pendingOperation }: RequestRow): boolean =>
  standingOf(status) === 'wanted' &&
  pendingOperation !== 'grant' &&
  !(fulfilment === 'manual' && status === 'PENDING_MANUAL_PROVISIONING')

/** Reports whether access is being revoked from the person, so access still shown may soon be removed. */
export async function isBeingTaken(db: Db, request: RequestRow): Promise<boolean> {
  return hasRow(db, accessRequests, ofPair(request), eq(accessRequests.pendingOperation, 'remove'))
}

/** Reports whether other requests of the person hold access in the same system. */
export async function holdsMore(db: Db, request: RequestRow): Promise<boolean> {
  return hasRow(
    db,
    accessRequests,
    ofPair(request),
    ne(accessRequests.id, request.id),
    // A manual grant that has not been done needs nothing yet.
    or(
      ne(accessRequests.fulfilment, 'manual'),
      ne(accessRequests.status, 'PENDING_MANUAL_PROVISIONING'),
    ),
    inArray(accessRequests.status, statesThatAre('wanted')),
  )
}
