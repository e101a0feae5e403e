/** Takes a deleted user out of the rules that name them as an approver of exceptions. */
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { separationRules } from '../../database/schema/findings.ts'
import type { DeletedUser } from '../kernel/context/listeners.ts'
import { ruleTarget } from './manage.ts'

export async function leaveSeparationRules(
  tx: Db,
  { domainId, userId, record }: DeletedUser,
): Promise<void> {
  const { approverUserIds } = separationRules
  const rows = await tx
    .update(separationRules)
    .set({ approverUserIds: sql`array_remove(${approverUserIds}, ${userId}::uuid)` })
    .where(
      and(eq(separationRules.domainId, domainId), sql`${userId}::uuid = any(${approverUserIds})`),
    )
    .returning()
  for (const rule of rows)
    await record('SOD_POLICY_UPDATED', [ruleTarget(rule)], { changed: ['approver_user_ids'] })
}
