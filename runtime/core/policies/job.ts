/** Background job of access policies: processes changed users and changed policies. */

import { and, asc, eq, gt, isNotNull, lte, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessPolicies, policyWants } from '../../database/schema/policies.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { later, pauseMs, RETRY_SCHEDULES } from '../kernel/jobs/retry-schedules.ts'
import { keptText } from '../kernel/kept-text.ts'
import { openErrorTask } from '../tasks/error-task.ts'
import { CHANGED_USERS } from './changed.ts'
import { openPolicyProblemTask } from './problem.ts'
import { reconcile } from './reconcile.ts'
import { sweepPolicy } from './sweep.ts'

/** Maximum number of due policies returned at once. */
const MAX_DUE = 50

async function due(db: Db): Promise<string[]> {
  const policies = await db
    .select({ id: accessPolicies.id })
    .from(accessPolicies)
    .where(isNotNull(accessPolicies.sweptTo))
    .orderBy(asc(accessPolicies.updatedAt))
    .limit(MAX_DUE)
  const someone = await nextWant(db, null)
  return [...policies.map(({ id }) => id), ...(someone ? [CHANGED_USERS] : [])]
}

/** Returns the next due user after a given one. */
async function nextWant(db: Db, after: string | null) {
  const [want] = await db
    .select()
    .from(policyWants)
    .where(
      and(
        lte(policyWants.wakeAt, sql`clock_timestamp()`),
        after === null ? undefined : gt(policyWants.userId, after),
      ),
    )
    .orderBy(asc(policyWants.userId))
    .limit(1)
  return want
}

async function handle(db: Db, key: string, parts: RequestContext): Promise<void> {
  if (key !== CHANGED_USERS) return sweepPolicy(db, key, parts)
  let want = await nextWant(db, null)
  while (want) {
    parts.signal.throwIfAborted()
    await settleWant(db, want, parts)
    want = await nextWant(db, want.userId)
  }
}

const turnOf = (key: string): string =>
  key === CHANGED_USERS ? 'policies and changed users' : `policy ${key}`

async function settleWant(
  db: Db,
  want: typeof policyWants.$inferSelect,
  parts: RequestContext,
): Promise<void> {
  try {
    await reconcile(db, want, null, parts)
  } catch (error) {
    if (parts.signal.aborted) throw error
    await tryLater(db, want, error, parts)
  }
}

/**
 * Schedules another try with growing pauses, and tells the admins once. Other users go on. A user who has
 * changed since the try began is due already and stays so.
 */
async function tryLater(
  db: Db,
  { userId, domainId, attempts: before, wakeAt }: typeof policyWants.$inferSelect,
  error: unknown,
  parts: RequestContext,
): Promise<void> {
  const attempts = before + 1
  await db.transaction(async (tx) => {
    // Dates of JavaScript have milliseconds, times of the database have microseconds.
    const isAsRead = sql`date_trunc('milliseconds', ${policyWants.wakeAt}) = ${wakeAt}`
    const waiting = await tx
      .update(policyWants)
      .set({ attempts, wakeAt: later(await parts.now(tx), pauseMs('changed-user', attempts)) })
      .where(and(eq(policyWants.userId, userId), isAsRead))
      .returning({ userId: policyWants.userId })
    if (waiting.length === 0) return
    if (attempts !== RETRY_SCHEDULES['changed-user'].tellAfter) return
    const words =
      error instanceof Error ? error.message.split('\n')[0] : 'it ended without an error message'
    await openErrorTask(tx, domainId, {
      taskType: 'ACCESS_POLICY_ERROR',
      description: `Access policies cannot be evaluated for a user: ${keptText(words ?? '', 500)}`,
      instructions: 'Keyway tries again every hour, and when the user changes.',
      targetUserId: userId,
    })
  })
}

/** Tells the admins once that a policy fails. `due` finds the remaining work again. */
async function gaveUp(db: Db, key: string, problem: string): Promise<void> {
  if (key === CHANGED_USERS) return
  await db.transaction(async (tx) => {
    const [policy] = await tx.select().from(accessPolicies).where(eq(accessPolicies.id, key))
    if (policy) await openPolicyProblemTask(tx, policy, problem)
  })
}

export const POLICY_JOB: JobHandler = { handle, turnOf, due, gaveUp }
