/** Takes a deleted user out of what pending requests wait for: others decide, as if they had never been named. */
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import type { DeletedUser } from '../kernel/context/listeners.ts'
import { PENDING_STATES } from './machine/states.ts'

export async function leaveRequests(tx: Db, { domainId, userId }: DeletedUser): Promise<void> {
  const { id, plan, status } = accessRequests
  const rows = await tx
    .select({ id, plan })
    .from(accessRequests)
    .where(
      and(
        eq(accessRequests.domainId, domainId),
        inArray(status, [...PENDING_STATES]),
        sql`${plan}::text like ${`%"${userId}"%`}`,
      ),
    )
    .orderBy(asc(id))
    .for('update')
  for (const { id: request, plan: before } of rows) {
    const stages = before.stages.map(({ users, groups }) => ({
      users: users.filter((one) => one !== userId),
      groups,
    }))
    await tx
      .update(accessRequests)
      .set({ plan: { ...before, stages } })
      .where(eq(id, request))
  }
}
