/** Preview of the people a policy would affect, before it is saved. */
import { and, asc, eq, gt } from 'drizzle-orm'
import { CoreError } from '../../contract/errors/problem.ts'
import type { AccessPolicyInput } from '../../contract/models/access-policy.ts'
import type { Db } from '../../database/database.ts'
import { type UserRow, users } from '../../database/schema/people.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { countDenied } from '../separation/blocked.ts'
import { findPolicy, missingAttributes, policyRowOf } from './policies.ts'
import { fitsPolicy, matches } from './wanted.ts'

/** Number of users read at once. */
const BATCH = 1000
/** Maximum number of users examined. */
const MAX_USERS = 50_000
/** Maximum number of users named. */
const MAX_NAMED = 20

/** Result of a preview. */
export type PolicyPreview = {
  /** Number of people who match, whether or not the policy is in force. */
  fitting: number
  /** Number of matching people who are not in the current policy. */
  added: number
  /** Number of people in the current policy who would leave it. */
  removed: number
  /** Number of added people to whom a rule of separation of duties denies part of the access. */
  denied: number
  /** First matching people. */
  people: { id: string; name: string; email: string; isNew: boolean }[]
  /** Number of users examined, and whether that is all of them. */
  looked: number
  isAll: boolean
  /** Whether the policy would grant anything. */
  isInForce: boolean
  /** Paths of the attributes that its condition uses and no user has. */
  missing: string[]
}

/**
 * Previews a policy.
 *
 * @param id the edited policy, or null for a new one
 * @throws CoreError `not_found`, `invalid` if the body refers to something that does not exist or the
 * condition cannot be evaluated
 */
export async function previewPolicy(
  db: Db,
  principal: Principal,
  body: AccessPolicyInput,
  id: string | null,
): Promise<PolicyPreview> {
  const after = await policyRowOf(db, principal, body)
  const before = id === null ? null : await findPolicy(db, principal, id, false)
  const isInForce = after.status === 'PUBLISHED' && after.isEnabled
  const found: PolicyPreview = {
    ...{
      fitting: 0,
      added: 0,
      removed: 0,
      denied: 0,
      people: [],
      looked: 0,
      isAll: false,
      isInForce,
    },
    missing: await missingAttributes(db, principal, after.condition),
  }
  const wanted = after.apps.flatMap(({ id: appId, permissions }) =>
    (permissions.length === 0 ? [null] : permissions).map((permissionId) => ({
      appId,
      permissionId,
    })),
  )
  let last: string | null = null
  while (!found.isAll && found.looked < MAX_USERS) {
    const batch = await batchOf(db, principal.domainId, last)
    const added: string[] = []
    for (const user of batch) {
      const has = before !== null && matches(before, user)
      const isFit = judged(() => fitsPolicy(after, user))
      if (isFit) found.fitting += 1
      if (isFit && isInForce && !has) added.push(user.id)
      if (has && !(isFit && isInForce)) found.removed += 1
      if (isFit && found.people.length < MAX_NAMED) found.people.push(named(user, !has))
    }
    found.added += added.length
    found.denied += await countDenied(db, principal.domainId, added, wanted)
    found.looked += batch.length
    found.isAll = batch.length < BATCH
    last = batch.at(-1)?.id ?? null
  }
  return found
}

const batchOf = (db: Db, domainId: string, after: string | null): Promise<UserRow[]> =>
  db
    .select()
    .from(users)
    .where(and(eq(users.domainId, domainId), after === null ? undefined : gt(users.id, after)))
    .orderBy(asc(users.id))
    .limit(BATCH)

const named = ({ id, givenName, familyName, email }: UserRow, isNew: boolean) => ({
  ...{ id, email, isNew },
  name: `${givenName} ${familyName}`.trim() || email,
})

/** Runs an evaluation. @throws CoreError `invalid` for an expression of a draft that cannot be evaluated */
function judged(judge: () => boolean): boolean {
  try {
    return judge()
  } catch (cause) {
    throw new CoreError('invalid', 'The condition cannot be evaluated here', { cause })
  }
}
