/** Records of offboardings: scheduling, reading, cancelling. */
import { badRequest, conflict } from '../../contract/errors/problem.ts'
import type {
  UserOffboardingInput,
  UserOffboardingOutput,
} from '../../contract/models/user-offboarding.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'
import type { Db } from '../../database/database.ts'
import { type OffboardingRow, userOffboardings } from '../../database/schema/offboarding.ts'
import { findUser } from '../directory/users.ts'
import { rowOfId } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { mayBecome } from '../machine/states.ts'
import { FIRST_ADMIN } from '../sign-in/first-admin.ts'
import { applyToOffboarding } from './apply.ts'
import { OFFBOARDING_STATES } from './machine/states.ts'
import { requireNotLeft } from './remaining-access.ts'
import { scheduleOffboarding } from './schedule.ts'

type Deps = Pick<CoreContext, 'send' | 'now'>

/**
 * Schedules an offboarding, or starts it at once. The first admin cannot be offboarded: the host created that
 * user, and no identity source or import knows it.
 *
 * @throws CoreError `bad_request` for the first admin and for a time in the past, `not_found`, `conflict` for
 * the last Admin and for a user who is being offboarded or has nothing left to take
 */
export async function createOffboarding(
  db: Db,
  principal: Principal,
  body: UserOffboardingInput,
  deps: Deps,
): Promise<UserOffboardingOutput> {
  const row = await db.transaction(async (tx) => {
    const user = await findLeaver(tx, principal, body.user_id)
    await requireNotLeft(tx, user)
    const now = await deps.now(tx)
    const at = body.scheduled_at
    const scheduledAt = at === undefined ? null : parseDatetime(at)
    if (scheduledAt !== null && scheduledAt < now)
      throw badRequest('scheduled_at is in the past; leave it out to offboard at once')
    const made = await scheduleOffboarding(tx, principal, user, scheduledAt, deps)
    if (!made) throw conflict('An offboarding of this user is already scheduled or in progress')
    return made
  })
  return toOffboarding(row)
}

/** Returns a user who may be offboarded. @throws CoreError `bad_request` for the first admin, `not_found` */
export async function findLeaver(db: Db, principal: Principal, id: string) {
  const user = await findUser(db, principal, id)
  if (user.email === FIRST_ADMIN)
    throw badRequest('No identity source knows this user: the host created it for its operator')
  return user
}

/** Returns an offboarding in its wire format. @throws CoreError not_found */
export async function getOffboarding(db: Db, principal: Principal, id: string) {
  return toOffboarding(await findOffboarding(db, principal, id, false))
}

/** Cancels a scheduled offboarding. @throws CoreError `not_found`, `conflict` if it has started or ended */
export async function cancelOffboarding(
  db: Db,
  principal: Principal,
  id: string,
  deps: Deps,
): Promise<null> {
  await db.transaction(async (tx) => {
    const row = await findOffboarding(tx, principal, id, true)
    if (!mayBecome(OFFBOARDING_STATES, row.status, 'CANCELLED'))
      throw conflict(
        `The offboarding is ${row.status}; only one that is SCHEDULED can be cancelled`,
      )
    await applyToOffboarding(tx, row, { kind: 'cancelled', by: principal }, await deps.now(tx))
  })
  return null
}

/** Returns the row of an offboarding. @throws CoreError not_found */
export const findOffboarding = (
  db: Db,
  principal: Principal,
  id: string,
  locked: boolean,
): Promise<OffboardingRow> =>
  rowOfId(db, userOffboardings, 'User offboarding', principal, id, { lock: locked && 'update' })

/** Converts a row to its wire format. */
export const toOffboarding = (row: OffboardingRow): UserOffboardingOutput => ({
  id: row.id,
  user_id: row.userId,
  status: row.status,
  scheduled_at: row.scheduledAt?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
  cancelled_at: row.cancelledAt?.toISOString() ?? null,
  completed_at: row.completedAt?.toISOString() ?? null,
})
