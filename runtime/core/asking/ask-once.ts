/**
 * Requests from a form that may be submitted twice: by a double click, from two tabs, or after going back.
 */

import { eq, inArray, isNull, notInArray } from 'drizzle-orm'
import { conflict } from '../../contract/errors/problem.ts'
import type { CreateAccessRequestInput } from '../../contract/models/access-request.ts'
import type { Db } from '../../database/database.ts'
import { lockTextUntilEnd } from '../../database/locks.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import { idsOf } from '../kernel/by-id.ts'
import { hasRow } from '../kernel/has-row.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { createAccessRequest } from '../requests/ask.ts'
import { PENDING_STATES } from '../requests/machine/states.ts'
import type { RequestDeps } from '../requests/request-deps.ts'

/**
 * Creates a request, unless one by the same person for the same access is already pending. Then nothing is
 * created.
 *
 * @returns whether the request was created
 * @throws CoreError as `createAccessRequest`
 */
export async function createRequestOnce(
  db: Db,
  principal: Principal,
  body: CreateAccessRequestInput,
  deps: RequestDeps,
): Promise<boolean> {
  const twice = conflict('You have already asked for this, and the request is pending')
  try {
    await db.transaction(async (tx) => {
      // The lock makes the second of two concurrent submissions see the first.
      await tx.execute(lockTextUntilEnd(`asking by ${principal.userId}`))
      const made = await createAccessRequest(tx, principal, body, deps)
      if (await waitsAlready(tx, idsOf(made))) throw twice
    })
    return true
  } catch (error) {
    if (error !== twice) throw error
    return false
  }
}

/** Reports whether another request for the same access as one of these is pending. */
async function waitsAlready(tx: Db, ids: readonly string[]): Promise<boolean> {
  const of = accessRequests
  const rows = await tx
    .select()
    .from(of)
    .where(inArray(of.id, [...ids]))
  for (const { requesterId, targetUserId, appId, permissionId } of rows) {
    const waits = await hasRow(
      tx,
      of,
      requesterId === null ? isNull(of.requesterId) : eq(of.requesterId, requesterId),
      ...[eq(of.targetUserId, targetUserId), eq(of.appId, appId)],
      permissionId === null ? isNull(of.permissionId) : eq(of.permissionId, permissionId),
      inArray(of.status, [...PENDING_STATES]),
      notInArray(of.id, [...ids]),
    )
    if (waits) return true
  }
  return false
}
