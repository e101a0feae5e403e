/**
 * Reconciles the requests that policies have made for a person with the access that the policies require.
 * Level-triggered: it may run twice, late, or on two hosts. Lock order everywhere: policies, the user,
 * requests, permissions, the log.
 */
import { and, asc, eq, inArray, isNotNull, isNull, or } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { requestablePermissions } from '../../database/schema/app_store.ts'
import { userOffboardings } from '../../database/schema/offboarding.ts'
import type { UserRow } from '../../database/schema/people.ts'
import { accessPolicies, type PolicyRow, policyWants } from '../../database/schema/policies.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { hasRow } from '../kernel/has-row.ts'
import { lockUser } from '../kernel/identity/principal.ts'
import { revert } from '../requests/cancel.ts'
import { requestConfig } from '../requests/config.ts'
import { createRequest } from '../requests/create.ts'
import { systemOf } from '../requests/machine/request.ts'
import type { RequestDeps } from '../requests/request-deps.ts'
import { isBlockedNow } from '../separation/blocked.ts'
import { entitlementsOf, type PolicyEntitlement } from './entitlements.ts'
import { openPolicyProblemTask } from './problem.ts'
import { matches, policyChanges } from './wanted.ts'

type Who = { domainId: string; userId: string }
type Counts = { given: number; taken: number }

/**
 * Grants and revokes access in one transaction.
 *
 * @param only the policy to compare, or null for all, which also removes the user from `policy_wants`
 */
export async function reconcile(
  db: Db,
  { domainId, userId }: Who,
  only: string | null,
  deps: RequestDeps,
): Promise<Counts> {
  return db.transaction(async (tx) => {
    // Blocks PUT and DELETE, which must see the access granted here.
    const policies = await tx
      .select()
      .from(accessPolicies)
      .where(
        and(
          eq(accessPolicies.domainId, domainId),
          only === null ? undefined : eq(accessPolicies.id, only),
        ),
      )
      .orderBy(asc(accessPolicies.id))
      .for('key share')
    const user = await lockUser(tx, userId)
    if (!user) return { given: 0, taken: 0 }
    if (only === null) await tx.delete(policyWants).where(eq(policyWants.userId, userId))
    const held = await lookAgain(tx, await heldOf(tx, userId, only))
    const leaves = await isBeingOffboarded(tx, userId)
    const counts = { given: 0, taken: 0 }
    const steps: Step[] = []
    for (const policy of policies) {
      const mine = held.filter(({ policyId }) => policyId === policy.id)
      steps.push(await stepOf(tx, policy, leaves ? { ...user, status: 'INACTIVE' } : user, mine))
    }
    const there = await keepPermissions(
      tx,
      steps.flatMap(({ give }) => give),
    )
    for (const { policy, problem, give, take } of steps) {
      if (problem !== null) await openPolicyProblemTask(tx, policy, problem)
      for (const request of take) await takeBack(tx, request, reasonOf(policy, request), deps)
      const given = give.filter(({ permission }) => permission === null || there.has(permission.id))
      for (const thing of given) await ask(tx, policy, thing, userId, deps)
      counts.given += given.length
      counts.taken += take.length
    }
    const orphans = held.filter(({ policyId }) => policyId === null)
    for (const request of orphans)
      await takeBack(tx, request, 'The access policy was deleted', deps)
    return { ...counts, taken: counts.taken + orphans.length }
  })
}

/** Returns the requests that count for policies, locked before anything is written. */
const heldOf = (tx: Db, userId: string, only: string | null): Promise<RequestRow[]> =>
  tx
    .select()
    .from(accessRequests)
    .where(
      and(
        eq(accessRequests.targetUserId, userId),
        isNotNull(accessRequests.policyFor),
        only === null
          ? undefined
          : or(eq(accessRequests.policyId, only), isNull(accessRequests.policyId)),
      ),
    )
    .orderBy(asc(accessRequests.id))
    .for('update')

type Held = RequestRow & { isUnblocked: boolean }

/** Marks the requests that a rule of separation of duties denied and no rule would deny now. */
async function lookAgain(tx: Db, requests: readonly RequestRow[]): Promise<Held[]> {
  const held: Held[] = []
  for (const request of requests)
    held.push({ ...request, isUnblocked: request.isBlocked && !(await isBlockedNow(tx, request)) })
  return held
}

/** Reports whether a user is being offboarded. They get nothing, even if a source reactivates them. */
async function isBeingOffboarded(tx: Db, userId: string): Promise<boolean> {
  return hasRow(
    tx,
    userOffboardings,
    eq(userOffboardings.userId, userId),
    eq(userOffboardings.status, 'IN_PROGRESS'),
  )
}

/** Changes required by one policy; none if it cannot be evaluated, which is stored as its problem. */
type Step = {
  policy: PolicyRow
  problem: string | null
  give: PolicyEntitlement[]
  take: RequestRow[]
}

/** Compares the access that a policy requires for a person with the access they have through it. */
async function stepOf(
  tx: Db,
  policy: PolicyRow,
  user: UserRow,
  mine: readonly Held[],
): Promise<Step> {
  let fits: boolean
  try {
    fits = matches(policy, user)
  } catch (error) {
    // One policy that cannot be evaluated must not stop the others.
    const problem = error instanceof Error ? error.message : String(error)
    return { policy, problem, give: [], take: [] }
  }
  const wanted: ReadonlyMap<string, PolicyEntitlement> = fits
    ? await entitlementsOf(tx, policy)
    : new Map()
  return { policy, problem: null, ...policyChanges(wanted, mine) }
}

/** Locks the permissions to grant against deletion. @returns those that still exist */
async function keepPermissions(
  tx: Db,
  things: readonly PolicyEntitlement[],
): Promise<ReadonlySet<string>> {
  const ids = things.flatMap(({ permission }) => (permission === null ? [] : [permission.id]))
  if (ids.length === 0) return new Set()
  const rows = await tx
    .select({ id: requestablePermissions.id })
    .from(requestablePermissions)
    .where(inArray(requestablePermissions.id, ids))
    .orderBy(asc(requestablePermissions.id))
    .for('key share')
  return new Set(rows.map(({ id }) => id))
}

const reasonOf = (policy: PolicyRow, { policyFor }: RequestRow): string => {
  const gives = policy.apps.some(
    ({ id, permissions }) => permissions.includes(policyFor ?? '') || id === policyFor,
  )
  if (policy.deletedAt !== null) return `The access policy “${policy.name}” was deleted`
  if (!policy.isEnabled || policy.status !== 'PUBLISHED')
    return `The access policy “${policy.name}” is no longer in force`
  return gives
    ? `The access policy “${policy.name}” no longer applies`
    : `The access policy “${policy.name}” no longer gives this`
}

async function takeBack(tx: Db, request: RequestRow, why: string, deps: RequestDeps) {
  await tx.update(accessRequests).set({ policyFor: null }).where(eq(accessRequests.id, request.id))
  await revert(tx, request, why, deps)
}

async function ask(
  tx: Db,
  policy: PolicyRow,
  thing: PolicyEntitlement,
  userId: string,
  deps: RequestDeps,
) {
  const { app, settings, permission, preapproved, key } = thing
  const wanted = {
    app,
    permission,
    plan: requestConfig(app, settings, permission).plan,
    requesterId: null,
    targetUserId: userId,
    policyId: policy.id,
    policyFor: key,
    expirationInSeconds: null,
    justification: policy.businessJustification,
    preapproved: preapproved ? `By the access policy “${policy.name}”` : null,
  }
  await createRequest(tx, systemOf(policy), wanted, deps)
}
