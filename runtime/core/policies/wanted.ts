/** Access that a policy requires for a person, and its difference from the requests the policy has made. */

import type { UserRow } from '../../database/schema/people.ts'
import type { PolicyRow } from '../../database/schema/policies.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import { holds } from '../directory/condition.ts'
import { conditionSubject } from '../directory/condition-subject.ts'
import { standingOf } from '../requests/machine/states.ts'
import { isInForce, type PolicyEntitlement } from './entitlements.ts'

/**
 * Reports whether a person matches a policy in force. Only ACTIVE people do: STAGED people have not started,
 * and SUSPENDED or INACTIVE people must have nothing.
 *
 * @throws Error if the condition cannot be evaluated
 */
export const matches = (policy: PolicyRow, user: UserRow): boolean =>
  isInForce(policy) && fitsPolicy(policy, user)

/**
 * Like `matches`, as if the policy were in force.
 *
 * @throws Error if the condition cannot be evaluated
 */
export function fitsPolicy(
  { isEveryone, condition }: Pick<PolicyRow, 'isEveryone' | 'condition'>,
  user: UserRow,
): boolean {
  if (user.status !== 'ACTIVE') return false
  return isEveryone || (condition !== null && holds(condition, conditionSubject(user)))
}

/**
 * Parts of a request that show whether it still is as the policy requires. `isUnblocked` means that a rule of
 * separation of duties denied it and may no longer do so.
 */
type Held = Pick<RequestRow, 'policyFor' | 'status'> & { isUnblocked: boolean }

type Difference<H extends Held> = { give: PolicyEntitlement[]; take: H[] }

/**
 * Returns the missing entitlements and the surplus requests. A denied request still counts for its
 * entitlement, so that approvers are not asked again. An open request is replaced once its entitlement is
 * preapproved.
 */
export function policyChanges<H extends Held>(
  things: ReadonlyMap<string, PolicyEntitlement>,
  held: readonly H[],
): Difference<H> {
  const stays = ({ policyFor, status, isUnblocked }: H): boolean => {
    const thing = policyFor === null ? undefined : things.get(policyFor)
    if (thing === undefined || isUnblocked) return false
    return !(thing.preapproved && standingOf(status) === 'asked')
  }
  const kept = new Set(held.filter(stays).map(({ policyFor }) => policyFor))
  return {
    // Nothing can be granted in a disconnected app. Access that exists there stays.
    give: [...things.values()].filter(
      ({ key, app }) => !kept.has(key) && app.disconnectedAt === null,
    ),
    take: held.filter((one) => !stays(one)),
  }
}

/** Reports whether a difference is not empty. */
export const isDifferent = <H extends Held>({ give, take }: Difference<H>): boolean =>
  give.length + take.length > 0
