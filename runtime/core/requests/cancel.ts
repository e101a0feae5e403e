/** Taking a request back, or ending what it gave. */

import { and, asc, eq, inArray } from 'drizzle-orm'
import { CoreError } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import { reach } from '../kernel/identity/app-reach.ts'
import { demand, type Principal } from '../kernel/identity/principal.ts'
import { keptText } from '../kernel/kept-text.ts'
import { look, type RequestMeans } from './job-key.ts'
import { move, note, type RequestRow } from './move.ts'
import { findRequest } from './read.ts'
import { PENDING_STATES, standingOf, statesThatAre } from './states.ts'
import { closeTasks } from './tasks.ts'
import { leave } from './transitions.ts'

/**
 * Takes a pending request back; what it has half given is taken back in the background.
 *
 * @throws CoreError 403 for whoever did neither ask nor is to have it, 404, 409 where it is not pending.
 */
export async function cancelAccessRequest(
  db: Db,
  principal: Principal,
  id: string,
  reason: string | null,
  means: RequestMeans,
): Promise<null> {
  await db.transaction(async (tx) => {
    const request = await findRequest(tx, principal, id, true)
    const own = [request.requesterId, request.targetUserId].includes(principal.userId)
    if (!own) await demandApp(tx, principal, request)
    if (!PENDING_STATES.some((one) => one === request.status))
      throw new CoreError(
        409,
        `The request is ${request.status}; only a pending one can be cancelled`,
      )
    // The log first, as everywhere: one who has the log and waits for the job must not meet one who waits the other way round.
    await note(tx, principal, request, 'APP_STORE_CANCEL_ACCESS_REQUEST', { from: request.status })
    await cancelled(tx, request, reason === null ? null : keptText(reason, 1000), means)
  })
  return null
}

/** Whoever sees a request need not be one who manages its app. @throws CoreError 403 */
async function demandApp(tx: Db, principal: Principal, { appId }: RequestRow): Promise<void> {
  const managed = reach(principal, 'tasks.write')
  if (managed === undefined) return
  const [app] = await tx
    .select({ id: apps.id })
    .from(apps)
    .where(and(eq(apps.id, appId), managed))
  if (!app) demand(principal, 'tasks.write')
}

async function cancelled(
  tx: Db,
  request: RequestRow,
  reason: string | null,
  means: RequestMeans,
): Promise<RequestRow> {
  await closeTasks(tx, request, 'DISMISSED')
  const begun = standingOf(request.status) === 'wanted' && request.how !== 'manual'
  const undo = begun
    ? ({ todo: 'remove', wakeAt: await means.now(tx) } as const)
    : ({ todo: null, wakeAt: null } as const)
  const moved = await move(tx, request, 'CANCELLED', { note: reason, attempts: 0, ...undo })
  if (begun) await look(tx, moved, means)
  return moved
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

/** Ends the requests for a permission that nobody has said yes to: it is about to be deleted. */
export async function endAsked(tx: Db, permissionId: string, means: RequestMeans): Promise<void> {
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
  for (const request of rows) await cancelled(tx, request, 'The permission was deleted', means)
}

/** Ends a locked request whose reason is gone, in whatever state it is; what is over stays as it is. */
export async function revert(
  tx: Db,
  request: RequestRow,
  why: string,
  means: RequestMeans,
): Promise<RequestRow> {
  const standing = standingOf(request.status)
  if (standing === 'asked') return cancelled(tx, request, why, means)
  return standing === 'wanted' ? leave(tx, request, 'REVERTING', why, means) : request
}
