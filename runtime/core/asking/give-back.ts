/** Giving access back before it expires. */
import { and, asc, inArray } from 'drizzle-orm'
import { conflict, forbidden } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { apply } from '../requests/apply.ts'
import { revert } from '../requests/cancel.ts'
import { PENDING_STATES } from '../requests/machine/states.ts'
import { findRequest } from '../requests/read.ts'
import { recordRequest } from '../requests/record.ts'
import type { RequestDeps } from '../requests/request-deps.ts'
import { sameOfPerson } from './extension.ts'

/** Note on a request whose access was given back by its holder. */
export const GIVEN_BACK = 'Given back by the person who held it'

/**
 * Revokes the access that a request granted, at the wish of its holder. Access granted by a policy stays,
 * because the policy would grant it again at once.
 *
 * @throws CoreError `forbidden` if the caller does not hold the access, `not_found`, `conflict` if there is
 *   nothing that can be given back
 */
export async function giveBack(
  db: Db,
  principal: Principal,
  id: string,
  deps: RequestDeps,
): Promise<void> {
  await db.transaction(async (tx) => {
    const request = await findRequest(tx, principal, id, true)
    checkGivenBack(request, principal)
    await end(tx, principal, request, deps)
  })
}

/**
 * Gives back the same access from all requests that grant it. There are several if the person asked for more
 * time. Pending requests for it are withdrawn, because an approval would grant it again. If one of the
 * requests cannot be given back, none is.
 *
 * @throws CoreError as `giveBack`
 */
export async function giveBackAll(
  db: Db,
  principal: Principal,
  id: string,
  deps: RequestDeps,
): Promise<void> {
  await db.transaction(async (tx) => {
    const named = await findRequest(tx, principal, id)
    checkGivenBack(named, principal)
    const all = await lockUnchanged(tx, named)
    const held = all.filter(({ status }) => status === 'COMPLETED')
    if (!held.some((one) => one.id === named.id))
      throw conflict('The access has already ended; there is nothing to give back')
    for (const request of held) checkGivenBack(request, principal)
    for (const request of held) await end(tx, principal, request, deps)
    const cancelled = { kind: 'cancelled', by: principal, reason: GIVEN_BACK } as const
    for (const request of all)
      if (request.status !== 'COMPLETED' && request.policyId === null)
        await apply(tx, request, cancelled, deps)
  })
}

/**
 * Returns all requests, granted or pending, of the same person for the same access. Locks them until the
 * transaction ends.
 */
export const lockUnchanged = (tx: Db, named: RequestRow): Promise<RequestRow[]> =>
  tx
    .select()
    .from(accessRequests)
    .where(
      and(sameOfPerson(named), inArray(accessRequests.status, ['COMPLETED', ...PENDING_STATES])),
    )
    .orderBy(asc(accessRequests.id))
    .for('update')

/**
 * Checks that the caller may give back the access of a request.
 *
 * @throws CoreError `forbidden`, `conflict`
 */
function checkGivenBack({ targetUserId, policyId, status }: RequestRow, { userId }: Principal) {
  if (targetUserId !== userId)
    throw forbidden('Only the person who holds the access can give it back')
  if (policyId !== null) throw conflict('A policy gives this access, so it cannot be given back')
  if (status !== 'COMPLETED')
    throw conflict(`The request is ${status}; only access that you hold can be given back`)
}

async function end(tx: Db, principal: Principal, request: RequestRow, deps: RequestDeps) {
  const from = { from: request.status }
  await recordRequest(tx, request, 'APP_STORE_GIVE_BACK_ACCESS', from, principal)
  await revert(tx, request, GIVEN_BACK, deps)
}
