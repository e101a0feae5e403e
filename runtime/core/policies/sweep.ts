/**
 * Sweep of one policy over all users, in batches by user id. The policy stores its position: a killed host
 * loses at most one batch, which is then repeated.
 */

import { and, asc, eq, gt, inArray, isNotNull, lte } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { type UserRow, users } from '../../database/schema/people.ts'
import { accessPolicies, type PolicyRow, type SweepCounts } from '../../database/schema/policies.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { keptText } from '../kernel/kept-text.ts'
import { usersChanged } from './changed.ts'
import { entitlementsOf, isInForce, type PolicyEntitlement } from './entitlements.ts'
import { reconcile } from './reconcile.ts'
import { isDifferent, matches, policyChanges } from './wanted.ts'

/** Number of users read at once. */
const BATCH = 500

/** Compares every user not yet compared since the policy changed. */
export async function sweepPolicy(db: Db, id: string, parts: RequestContext): Promise<void> {
  for (;;) {
    parts.signal.throwIfAborted()
    const [policy] = await db.select().from(accessPolicies).where(eq(accessPolicies.id, id))
    if (!policy || policy.sweptTo === null) return
    await sweepBatch(db, policy, policy.sweptTo, parts)
  }
}

async function sweepBatch(
  db: Db,
  policy: PolicyRow,
  after: string,
  parts: RequestContext,
): Promise<void> {
  const batch = await batchOf(db, policy, after)
  const last = batch.at(-1)?.id
  if (last === undefined) return finish(db, policy)
  const counts: SweepCounts = { ...policy.swept, users: policy.swept.users + batch.length }
  for (const userId of await differing(db, policy, batch, after, last)) {
    parts.signal.throwIfAborted()
    const found = await settleOrLater(db, { domainId: policy.domainId, userId }, policy.id, parts)
    counts.given += found.given
    counts.taken += found.taken
  }
  // If the policy has changed in between, its sweep has restarted and this batch does not count.
  await db
    .update(accessPolicies)
    .set({ sweptTo: last, swept: counts })
    .where(and(eq(accessPolicies.id, policy.id), eq(accessPolicies.sweep, policy.sweep)))
}

/** Returns the next users. For a policy that grants nothing, only the users with access through it. */
async function batchOf(db: Db, policy: PolicyRow, after: string): Promise<UserRow[]> {
  const theirs = db
    .select({ id: accessRequests.targetUserId })
    .from(accessRequests)
    .where(and(isHeld(policy), gt(accessRequests.targetUserId, after)))
  return (
    db
      .select()
      .from(users)
      // Filter by id alone: with a condition on the domain, PostgreSQL sorts all remaining users for each
      // batch.
      .where(and(gt(users.id, after), isInForce(policy) ? undefined : inArray(users.id, theirs)))
      .orderBy(asc(users.id))
      .limit(BATCH)
  )
}

const isHeld = ({ id }: PolicyRow) =>
  and(eq(accessRequests.policyId, id), isNotNull(accessRequests.policyFor))

/** Returns the users of a batch who need a change. Most need none, and cost no transaction. */
async function differing(
  db: Db,
  policy: PolicyRow,
  people: readonly UserRow[],
  after: string,
  last: string,
): Promise<string[]> {
  const things = await entitlementsOf(db, policy)
  const held = await db
    .select({
      userId: accessRequests.targetUserId,
      policyFor: accessRequests.policyFor,
      status: accessRequests.status,
      isUnblocked: accessRequests.isBlocked,
    })
    .from(accessRequests)
    .where(
      and(
        isHeld(policy),
        gt(accessRequests.targetUserId, after),
        lte(accessRequests.targetUserId, last),
      ),
    )
  const byUser = Map.groupBy(held, ({ userId }) => userId)
  return people.flatMap((user) => {
    if (user.domainId !== policy.domainId) return []
    const mine = byUser.get(user.id) ?? []
    const wanted = wantedOf(policy, user, things)
    return wanted === null || isDifferent(policyChanges(wanted, mine)) ? [user.id] : []
  })
}

const NOTHING: ReadonlyMap<string, PolicyEntitlement> = new Map()

function wantedOf(
  policy: PolicyRow,
  user: UserRow,
  things: ReadonlyMap<string, PolicyEntitlement>,
): ReadonlyMap<string, PolicyEntitlement> | null {
  try {
    return matches(policy, user) ? things : NOTHING
  } catch {
    // `reconcile` reports the problem.
    return null
  }
}

/** Reconciles a user. One who fails is queued for a separate try, and does not hold up the others. */
async function settleOrLater(
  db: Db,
  who: { domainId: string; userId: string },
  policyId: string,
  parts: RequestContext,
) {
  try {
    return await reconcile(db, who, policyId, parts)
  } catch (error) {
    if (parts.signal.aborted) throw error
    await db.transaction((tx) => usersChanged(tx, who.domainId, [who.userId], parts))
    return { given: 0, taken: 0 }
  }
}

/** Ends a sweep: records its result, and deletes the row of a deleted policy. */
async function finish(db: Db, { id, sweep }: PolicyRow): Promise<void> {
  await db.transaction(async (tx) => {
    const [policy] = await tx
      .update(accessPolicies)
      .set({ sweptTo: null })
      .where(and(eq(accessPolicies.id, id), eq(accessPolicies.sweep, sweep)))
      .returning()
    if (!policy) return
    const target = { target_type: 'AccessPolicy', name: keptText(policy.name, 200), id }
    const actor = { domainId: policy.domainId, userId: null }
    const { given, taken } = policy.swept
    if (isInForce(policy) || given + taken > 0)
      await recordActivity(tx, actor, 'ACCESS_POLICY_EVALUATED', [target], policy.swept)
    if (policy.deletedAt !== null) await tx.delete(accessPolicies).where(eq(accessPolicies.id, id))
  })
}
