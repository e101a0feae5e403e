/** The only place that changes the state of an offboarding. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { type OffboardingRow, userOffboardings } from '../../database/schema/offboarding.ts'
import { lockedRow } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { type Executor, execute } from '../machine/execute.ts'
import { mayBecome, requireMove } from '../machine/states.ts'
import { OFFBOARDING_STATES } from './machine/states.ts'
import {
  type OffboardingEvent,
  type OffboardingWrite,
  offboardingTransition,
} from './machine/transitions.ts'

/**
 * Applies an event to a locked offboarding.
 *
 * @throws Error if OFFBOARDING_STATES does not permit the change, which is a bug in Keyway
 */
export async function applyToOffboarding(
  tx: Db,
  row: OffboardingRow,
  event: OffboardingEvent,
  now: Date,
): Promise<void> {
  await execute(tx, row, offboardingTransition(row, event, now), OFFBOARDINGS)
}

const OFFBOARDINGS: Executor<OffboardingRow, OffboardingWrite, never> = {
  async write(tx, row, write) {
    requireMove('an offboarding', OFFBOARDING_STATES, row.status, write.status)
    await tx.update(userOffboardings).set(write).where(eq(userOffboardings.id, row.id))
    return { ...row, ...write }
  },
  carryOut: async () => {},
}

/** Returns an offboarding, locked until the transaction ends, or null. */
export const lockOffboarding = (tx: Db, id: string): Promise<OffboardingRow | null> =>
  lockedRow(tx, userOffboardings, id)

/** Ends an offboarding that cannot continue. The admins get a task with the reason. */
export async function failOffboarding(
  db: Db,
  id: string,
  problem: string,
  { tell, now }: Pick<CoreContext, 'tell' | 'now'>,
): Promise<void> {
  const failed = await db.transaction(async (tx) => {
    const row = await lockOffboarding(tx, id)
    if (!row || !mayBecome(OFFBOARDING_STATES, row.status, 'FAILED')) return false
    await applyToOffboarding(tx, row, { kind: 'failed', problem }, await now(tx))
    return true
  })
  if (failed)
    tell(
      'error',
      { offboarding: id },
      'an offboarding failed; the admins have a task with the reason',
    )
}
