/** Start of an offboarding. After it, the user can do nothing and is granted nothing. */
import { and, asc, eq, inArray, isNull } from 'drizzle-orm'
import { CoreError } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { userOffboardings } from '../../database/schema/offboarding.ts'
import { apiTokens, users } from '../../database/schema/people.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import { loginLinks, sessions } from '../../database/schema/sessions.ts'
import { requireRemainingAdmin } from '../directory/admins.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { revert } from '../requests/cancel.ts'
import { statesThatAre } from '../requests/machine/states.ts'
import { applyToOffboarding, failOffboarding, lockOffboarding } from './apply.ts'

/** Starts an offboarding in one transaction. That of the last Admin fails. */
export async function beginOffboarding(
  db: Db,
  id: string,
  deps: Pick<CoreContext, 'send' | 'now' | 'tell' | 'listeners'>,
) {
  try {
    await db.transaction((tx) => beginIn(tx, id, deps))
  } catch (error) {
    if (!(error instanceof CoreError)) throw error
    await failOffboarding(db, id, String(error.detail), deps)
  }
}

async function beginIn(tx: Db, id: string, deps: Pick<CoreContext, 'send' | 'now' | 'listeners'>) {
  // Lock the user first, as all code that locks both does. Otherwise a push that deactivates them and this
  // transaction could deadlock.
  const leaver = tx
    .select({ id: userOffboardings.userId })
    .from(userOffboardings)
    .where(eq(userOffboardings.id, id))
  await tx
    .select({ id: users.id })
    .from(users)
    .where(inArray(users.id, leaver))
    .for('no key update')
  const row = await lockOffboarding(tx, id)
  if (row?.status !== 'SCHEDULED') return
  const { domainId, userId } = row
  await requireRemainingAdmin(tx, domainId, new Set([userId]))
  const now = await deps.now(tx)
  const [user] = await tx
    .update(users)
    .set({ status: 'INACTIVE' })
    .where(eq(users.id, userId))
    .returning()
  await tx.delete(sessions).where(eq(sessions.userId, userId))
  await tx.delete(loginLinks).where(eq(loginLinks.userId, userId))
  const tokens = await tx
    .update(apiTokens)
    .set({ revokedAt: now })
    .where(and(eq(apiTokens.userId, userId), isNull(apiTokens.revokedAt)))
    .returning({ id: apiTokens.id })
  await deps.listeners.usersChanged(tx, domainId, [userId], deps)
  const live = await tx
    .select()
    .from(accessRequests)
    .where(
      and(
        eq(accessRequests.targetUserId, userId),
        inArray(accessRequests.status, statesThatAre('asked', 'wanted')),
      ),
    )
    .orderBy(asc(accessRequests.id))
    .for('update')
  for (const request of live) await revert(tx, request, 'The person is being offboarded', deps)
  const counts = { requests: live.length, tokens: tokens.length }
  await applyToOffboarding(
    tx,
    row,
    { kind: 'started', email: user?.email ?? userId, ...counts },
    now,
  )
}
