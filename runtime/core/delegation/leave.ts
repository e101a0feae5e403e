/** Ends the delegations of a deleted user, and those to them. */
import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { delegations } from '../../database/schema/delegations.ts'
import type { DeletedUser } from '../kernel/context/listeners.ts'
import { delegationTarget } from './delegations.ts'

export async function endDelegationsOf(
  tx: Db,
  { domainId, userId: of, record }: DeletedUser,
): Promise<void> {
  const { userId, delegateId, endedAt, until } = delegations
  const rows = await tx
    .update(delegations)
    .set({ endedAt: sql`now()` })
    .where(
      and(
        eq(delegations.domainId, domainId),
        or(eq(userId, of), eq(delegateId, of)),
        and(isNull(endedAt), gt(until, sql`now()`)),
      ),
    )
    .returning()
  for (const row of rows)
    await record('DELEGATION_ENDED', [delegationTarget(row)], {
      ...{ user_id: row.userId, delegate_id: row.delegateId },
    })
}
