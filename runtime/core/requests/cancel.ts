/** Cancelling a request, or ending the access it granted. */

import { and, asc, eq, inArray } from 'drizzle-orm'
import { conflict } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { hasRow } from '../kernel/has-row.ts'
import { isReachRefused, reach } from '../kernel/identity/app-reach.ts'
import { type Principal, requirePermission } from '../kernel/identity/principal.ts'
import { keptText } from '../kernel/kept-text.ts'
import { apply } from './apply.ts'
import { PENDING_STATES, standingOf, statesThatAre } from './machine/states.ts'
import { findRequest } from './read.ts'
import type { RequestDeps } from './request-deps.ts'

/**
 * Cancels a pending request. A partial grant is revoked in the background.
 *
 * @throws CoreError `forbidden` for a caller who is neither a party nor an admin, `not_found`, `conflict` if
 * the request is not pending
 */
export async function cancelAccessRequest(
  db: Db,
  principal: Principal,
  id: string,
  reason: string | null,
  deps: RequestDeps,
): Promise<void> {
  await db.transaction(async (tx) => {
    const request = await findRequest(tx, principal, id, true)
    const own = [request.requesterId, request.targetUserId].includes(principal.userId)
    if (!own && !(await isAdminOfRequest(tx, principal, request)))
      requirePermission(principal, 'tasks.write')
    if (!PENDING_STATES.some((one) => one === request.status))
      throw conflict(`The request is ${request.status}; only a pending one can be cancelled`)
    const said = reason === null ? null : keptText(reason, 1000)
    await apply(tx, request, { kind: 'cancelled', by: principal, reason: said }, deps)
  })
}

/** Reports whether the caller is an admin of a request's app or of the domain. Others may see it too. */
export async function isAdminOfRequest(
  db: Db,
  principal: Principal,
  { appId }: Pick<RequestRow, 'appId'>,
): Promise<boolean> {
  if (isReachRefused(principal, 'tasks.write')) return false
  const managed = reach(principal, 'tasks.write')
  return managed === undefined || hasRow(db, apps, eq(apps.id, appId), managed)
}

/** Locks the requests for a permission until the transaction ends, because its deletion changes them all. */
export async function lockRequestsFor(tx: Db, permissionId: string): Promise<void> {
  await tx
    .select({ id: accessRequests.id })
    .from(accessRequests)
    .where(eq(accessRequests.permissionId, permissionId))
    .orderBy(asc(accessRequests.id))
    .for('update')
}

/** Ends the requests for a permission that are not approved yet, because it is about to be deleted. */
export async function endUndecidedRequests(
  tx: Db,
  permissionId: string,
  deps: RequestDeps,
): Promise<void> {
  const rows = await tx
    .select()
    .from(accessRequests)
    .where(
      and(
        eq(accessRequests.permissionId, permissionId),
        inArray(accessRequests.status, statesThatAre('asked')),
      ),
    )
    .orderBy(asc(accessRequests.id))
    .for('update')
  const why = 'The permission was deleted'
  for (const request of rows) await apply(tx, request, { kind: 'reason_gone', why }, deps)
}

/** Ends a locked request, in any state, whose reason no longer applies. One that is over stays as it is. */
export async function revert(
  tx: Db,
  request: RequestRow,
  why: string,
  deps: RequestDeps,
): Promise<RequestRow> {
  const standing = standingOf(request.status)
  if (standing !== 'asked' && standing !== 'wanted') return request
  return apply(tx, request, { kind: 'reason_gone', why }, deps)
}
