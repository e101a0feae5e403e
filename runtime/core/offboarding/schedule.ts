/** Scheduling an offboarding, by an admin or by a provider that pushes users. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { type OffboardingRow, userOffboardings } from '../../database/schema/offboarding.ts'
import { requireRemainingAdmin } from '../directory/admins.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { offboardingTarget } from './machine/transitions.ts'

/**
 * Schedules an offboarding, or starts it at once if `scheduledAt` is null.
 *
 * @param by further fields of the log entry
 * @returns null if one is already scheduled or in progress
 * @throws CoreError `conflict` for the last Admin
 */
export async function scheduleOffboarding(
  tx: Db,
  actor: Actor,
  user: { id: string; email: string },
  scheduledAt: Date | null,
  deps: Pick<CoreContext, 'send' | 'now'>,
  by: Record<string, unknown> = {},
): Promise<OffboardingRow | null> {
  const { domainId } = actor
  const now = await deps.now(tx)
  await requireRemainingAdmin(tx, domainId, new Set([user.id]))
  const [made] = await tx
    .insert(userOffboardings)
    .values({
      ...{ domainId, userId: user.id, status: 'SCHEDULED' as const },
      ...{ scheduledAt, wakeAt: scheduledAt ?? now },
    })
    .onConflictDoNothing({
      target: userOffboardings.userId,
      where: sql`status in ('SCHEDULED', 'IN_PROGRESS')`,
    })
    .returning()
  if (!made) return null
  await recordActivity(
    tx,
    actor,
    'USER_OFFBOARDING_SCHEDULED',
    [offboardingTarget(made, user.email)],
    { user_id: user.id, scheduled_at: scheduledAt?.toISOString() ?? null, ...by },
  )
  if (scheduledAt === null) await deps.send(tx, 'offboardings', made.id)
  return made
}
