/**
 * Comparing one policy with everybody, in batches by the users' ids. How far it is stands in the policy: a
 * host that is killed loses one batch at most, which is then looked at again.
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

/** Users that are read at once. */
const BATCH = 500

/** Compares every user who was not compared since the policy changed. */
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
  // Changed meanwhile: it has started over, and this batch does not count.
  await db
    .update(accessPolicies)
    .set({ sweptTo: last, swept: counts })
    .where(and(eq(accessPolicies.id, policy.id), eq(accessPolicies.sweep, policy.sweep)))
}

/** The next users: of a policy that gives nothing those who have something by it. */
async function batchOf(db: Db, policy: PolicyRow, after: string): Promise<UserRow[]> {
  const theirs = db
    .select({ id: accessRequests.targetUserId })
    .from(accessRequests)
    .where(and(isHeld(policy), gt(accessRequests.targetUserId, after)))
  return (
    db
      .select()
      .from(users)
      // By the ids alone: a condition on the domain has PostgreSQL sort all that are left for each batch.
      .where(and(gt(users.id, after), isInForce(policy) ? undefined : inArray(users.id, theirs)))
      .orderBy(asc(users.id))
      .limit(BATCH)
  )
}

const isHeld = ({ id }: PolicyRow) =>
  and(eq(accessRequests.policyId, id), isNotNull(accessRequests.policyFor))

/** The users of a batch who need a change; most need none, and cost no transaction. */
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
      askAgain: accessRequests.isBlocked,
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
    // Told where it is settled.
    return null
  }
}

/** One user who fails must not keep the others waiting: tried again by themselves. */
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

/** Everybody was looked at. */
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
