/** What requests of the same person in the same system mean for each other: who needs what another one gave. */
import { and, eq, inArray, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { hasRow } from '../kernel/has-row.ts'
import type { Pair } from '../provisioning/pair.ts'
import { standingOf, statesThatAre } from './machine/states.ts'

/** A condition: requests of a person in an app. */
export const ofPair = ({ carriedAppId, targetUserId }: Pair) =>
  and(eq(accessRequests.carriedAppId, carriedAppId), eq(accessRequests.targetUserId, targetUserId))

/** Requests of the same person for the same thing that stand, or are on their way out. */
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

/** Requests for the app itself, or for one permission: by its own id, or what it stands for in the system. */
export function sameThing({ label, entitlement, permissionId }: RequestRow) {
  if (label === null) return isNull(accessRequests.label)
  return or(
    permissionId === null ? undefined : eq(accessRequests.permissionId, permissionId),
    entitlement === null
      ? undefined
      : sql`${accessRequests.entitlement} = ${JSON.stringify(entitlement)}::jsonb`,
    // A permission that was deleted and that nobody else can stand for.
    sql`false`,
  )
}

/**
 * Whether a request goes on to hold what another one gave. One that is still to be given does not: what was
 * sent to take it may be under way. Nor does one that waits for hands: cancelled, it takes nothing back.
 */
export const inherits = ({ status, fulfilment, pendingOperation }: RequestRow): boolean =>
  standingOf(status) === 'wanted' &&
  pendingOperation !== 'grant' &&
  !(fulfilment === 'manual' && status === 'PENDING_MANUAL_PROVISIONING')

/** Whether something is being taken from the same person, so that what is shown may be gone in a moment. */
export async function isBeingTaken(db: Db, request: RequestRow): Promise<boolean> {
  return hasRow(db, accessRequests, ofPair(request), eq(accessRequests.pendingOperation, 'remove'))
}

/** Whether other requests of the person stand in the same system. */
export async function holdsMore(db: Db, request: RequestRow): Promise<boolean> {
  return hasRow(
    db,
    accessRequests,
    ofPair(request),
    ne(accessRequests.id, request.id),
    // What nobody has given by hand yet needs nothing so far.
    or(
      ne(accessRequests.fulfilment, 'manual'),
      ne(accessRequests.status, 'PENDING_MANUAL_PROVISIONING'),
    ),
    inArray(accessRequests.status, statesThatAre('wanted')),
  )
}
