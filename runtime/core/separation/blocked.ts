/** Policy requests that a rule with BLOCK denied: whether a rule still denies them. */
import { and, asc, eq, gt, isNotNull, or, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { SeparationRow } from '../../database/schema/findings.ts'
import { users } from '../../database/schema/people.ts'
import { policyWants } from '../../database/schema/policies.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { conflictsOf, rulesInForce } from './check.ts'
import { holdingsOfEach, ruleTargets } from './holdings.ts'
import { appThing, brokenBy, permissionThing, type Thing } from './rules.ts'

/** Number of requests examined at once. */
const BATCH = 500

type Wanted = Pick<RequestRow, 'appId' | 'permissionId'>
type Blocked = Wanted & Pick<RequestRow, 'id' | 'targetUserId'>

/** Reports whether a rule still denies a request. */
export async function isBlockedNow(
  db: Db,
  { id, domainId, targetUserId, appId, permissionId }: RequestRow,
): Promise<boolean> {
  const asked = { domainId, appId, permissionId, userId: targetUserId, requestId: id }
  const conflicts = await conflictsOf(db, asked)
  return conflicts.some(({ rule }) => rule.onRequest === 'BLOCK')
}

/**
 * Counts the people to whom a rule would deny at least one of the requested items, requested one after the
 * other.
 *
 * @param wanted items in the order of request; without a permission, an item is the app itself
 */
export async function countDenied(
  db: Db,
  domainId: string,
  people: readonly string[],
  wanted: readonly Wanted[],
): Promise<number> {
  const rules = (await rulesInForce(db, domainId)).filter(({ onRequest }) => onRequest === 'BLOCK')
  if (rules.length === 0 || people.length === 0) return 0
  const held = await holdingsOfEach(db, domainId, people, ruleTargets(rules))
  const isDeniedAny = (userId: string): boolean => {
    const has = new Set(held.get(userId))
    return wanted.some((one) => {
      if (isDenied(one, rules, has)) return true
      for (const thing of askedBy(one)) has.add(thing)
      return false
    })
  }
  return people.filter(isDeniedAny).length
}

/** Finds people whose blocked requests no rule denies now, and queues their comparison with the policies. */
export async function wakeUnblocked(
  db: Db,
  domainId: string,
  rules: readonly SeparationRow[],
  signal: AbortSignal,
): Promise<void> {
  const blocking = rules.filter(({ onRequest }) => onRequest === 'BLOCK')
  let batch = await nextBlocked(db, domainId, null)
  for (let last = batch.at(-1); last !== undefined; last = batch.at(-1)) {
    signal.throwIfAborted()
    const people = [...new Set(batch.map(({ targetUserId }) => targetUserId))]
    const held = await holdingsOfEach(db, domainId, people, ruleTargets(blocking))
    const free = batch.filter((one) => !isDenied(one, blocking, held.get(one.targetUserId)))
    await wake(db, domainId, [...new Set(free.map(({ targetUserId }) => targetUserId))])
    batch = await nextBlocked(db, domainId, last)
  }
}

const NOTHING: ReadonlySet<Thing> = new Set()

const askedBy = ({ appId, permissionId }: Wanted): Thing[] => [
  appThing(appId),
  ...(permissionId === null ? [] : [permissionThing(permissionId)]),
]

function isDenied(
  wanted: Wanted,
  rules: readonly SeparationRow[],
  held: ReadonlySet<Thing> = NOTHING,
): boolean {
  const asked = askedBy(wanted)
  return rules.some((rule) => brokenBy(rule, held, asked) !== null)
}

const nextBlocked = (db: Db, domainId: string, after: Blocked | null): Promise<Blocked[]> => {
  const { id, targetUserId, appId, permissionId, isBlocked, policyFor } = accessRequests
  const isWanted = and(isBlocked, isNotNull(policyFor))
  const isBehind =
    after &&
    or(
      gt(targetUserId, after.targetUserId),
      and(eq(targetUserId, after.targetUserId), gt(id, after.id)),
    )
  return db
    .select({ id, targetUserId, appId, permissionId })
    .from(accessRequests)
    .where(and(eq(accessRequests.domainId, domainId), isWanted, isBehind ?? undefined))
    .orderBy(asc(targetUserId), asc(id))
    .limit(BATCH)
}

/** Queues a comparison of users with the policies. A queued one is left unchanged. */
async function wake(db: Db, domainId: string, userIds: readonly string[]): Promise<void> {
  if (userIds.length === 0) return
  await db.execute(sql`
    insert into ${policyWants} (user_id, domain_id)
    select id, domain_id from ${users}
    where domain_id = ${domainId} and id = any(${sql.param([...userIds])}::uuid[]) order by id
    on conflict (user_id) do nothing`)
}
