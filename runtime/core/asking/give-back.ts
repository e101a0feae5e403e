/** Giving access back before its time is over. */
import { CoreError } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { revert } from '../requests/cancel.ts'
import type { RequestMeans } from '../requests/job-key.ts'
import { findRequest } from '../requests/read.ts'
import { recordRequest } from '../requests/record.ts'

/** The note of a request that gave something which its holder gave back. */
export const GIVEN_BACK = 'Given back by the person who held it'

/**
 * Has what a request gave taken back, by the person who holds it. What a policy gave stays: it would be given
 * again at once.
 *
 * @throws CoreError forbidden for another than who holds it, not_found, conflict where there is nothing that could be given back
 */
export async function giveBack(
  db: Db,
  principal: Principal,
  id: string,
  means: RequestMeans,
): Promise<null> {
  await db.transaction(async (tx) => {
    const request = await findRequest(tx, principal, id, true)
    if (request.targetUserId !== principal.userId)
      throw new CoreError('forbidden', 'Only the person who holds the access can give it back')
    if (request.policyId !== null)
      throw new CoreError('conflict', 'A policy gives this access, so it cannot be given back')
    if (request.status !== 'COMPLETED')
      throw new CoreError(
        'conflict',
        `The request is ${request.status}; only access that is there can be given back`,
      )
    await recordRequest(
      tx,
      request,
      'APP_STORE_GIVE_BACK_ACCESS',
      { from: request.status },
      principal,
    )
    await revert(tx, request, GIVEN_BACK, means)
  })
  return null
}
