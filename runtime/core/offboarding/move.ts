/** The one place where the state of an offboarding changes. */

import { eq } from 'drizzle-orm'
import type { OffboardingStatus } from '../../contract/models/user-offboarding.ts'
import type { Db } from '../../database/database.ts'
import { userOffboardings } from '../../database/schema/offboarding.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { keptText } from '../kernel/kept-text.ts'
import { openErrorTask } from '../tasks/error-task.ts'
import { mayBecome } from './states.ts'

export type OffboardingRow = typeof userOffboardings.$inferSelect

/**
 * Moves a locked offboarding into another state.
 *
 * @throws Error for a move that OFFBOARDING_STATES does not have: a defect of ours.
 */
export async function move(
  tx: Db,
  row: OffboardingRow,
  to: OffboardingStatus,
  values: Partial<Pick<OffboardingRow, 'cancelledAt' | 'completedAt' | 'wakeAt' | 'problem'>>,
): Promise<void> {
  if (!mayBecome(row.status, to))
    throw new Error(`an offboarding that is ${row.status} cannot become ${to}`)
  await tx
    .update(userOffboardings)
    .set({ ...values, status: to })
    .where(eq(userOffboardings.id, row.id))
}

/** An offboarding, locked until the transaction ends. */
export async function lockOffboarding(tx: Db, id: string): Promise<OffboardingRow | undefined> {
  const [row] = await tx
    .select()
    .from(userOffboardings)
    .where(eq(userOffboardings.id, id))
    .for('update')
  return row
}

/** An offboarding in the log. */
export const offboardingTarget = ({ id }: Pick<OffboardingRow, 'id'>, name: string) => ({
  target_type: 'UserOffboarding',
  name: keptText(name, 200),
  id,
})

/** Ends an offboarding that cannot go on; the admins have a task that says why. */
export async function failOffboarding(
  db: Db,
  id: string,
  problem: string,
  { tell }: Pick<CoreContext, 'tell'>,
): Promise<void> {
  const failed = await db.transaction(async (tx) => {
    const row = await lockOffboarding(tx, id)
    if (!row || !mayBecome(row.status, 'FAILED')) return false
    await move(tx, row, 'FAILED', { wakeAt: null, problem: keptText(problem, 1000) })
    const actor = { domainId: row.domainId, userId: null }
    const target = offboardingTarget(row, row.userId)
    const metadata = { user_id: row.userId, problem: keptText(problem, 500) }
    await recordActivity(tx, actor, 'USER_OFFBOARDING_FAILED', [target], metadata, 'Failed')
    await openErrorTask(tx, row.domainId, {
      taskType: 'OFFBOARDING_ERROR',
      description: `The offboarding of a user failed: ${keptText(problem, 500)}`,
      instructions:
        'Mend what is said there, then offboard the user again: POST /lifecycle-management/user-offboardings',
      targetUserId: row.userId,
      productArea: 'OFFBOARDING',
    })
    return true
  })
  if (failed)
    tell(
      'error',
      { offboarding: id },
      'an offboarding failed; the admins have a task that says why',
    )
}
