/** What a policy wants for a person, and how that differs from what it has asked for. */

import type { UserRow } from '../../database/schema/people.ts'
import type { PolicyRow } from '../../database/schema/policies.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import { holds } from '../directory/condition.ts'
import { conditionSubject } from '../directory/condition-subject.ts'
import { standingOf } from '../requests/machine/states.ts'
import { isInForce, type PolicyEntitlement } from './entitlements.ts'

/**
 * Whether a person matches a policy. Only ACTIVE people do: who is STAGED has not begun, and who is
 * SUSPENDED or INACTIVE is to have nothing.
 *
 * @throws Error for a condition that cannot be evaluated
 */
export const matches = (policy: PolicyRow, user: UserRow): boolean =>
  isInForce(policy) && fitsPolicy(policy, user)

/**
 * The same of a policy as if it were in force.
 *
 * @throws Error for a condition that cannot be evaluated
 */
export function fitsPolicy(
  { isEveryone, condition }: Pick<PolicyRow, 'isEveryone' | 'condition'>,
  user: UserRow,
): boolean {
  if (user.status !== 'ACTIVE') return false
  return isEveryone || (condition !== null && holds(condition, conditionSubject(user)))
}

/**
 * What of a request tells whether it still is what the policy wants. `askAgain`: a rule of separation of duties denied
 * it, which may have nothing against it any more.
 */
type Held = Pick<RequestRow, 'policyFor' | 'status'> & { askAgain: boolean }

type Difference<H extends Held> = { give: PolicyEntitlement[]; take: H[] }

/**
 * What is missing, and what is too much. A request that people said no to stands for its thing all the same,
 * so that they are not asked again; one that waits for people is asked again once nobody needs to be.
 */
export function policyChanges<H extends Held>(
  things: ReadonlyMap<string, PolicyEntitlement>,
  held: readonly H[],
): Difference<H> {
  const stays = ({ policyFor, status, askAgain }: H): boolean => {
    const thing = policyFor === null ? undefined : things.get(policyFor)
    if (thing === undefined || askAgain) return false
    return !(thing.preapproved && standingOf(status) === 'asked')
  }
  const kept = new Set(held.filter(stays).map(({ policyFor }) => policyFor))
  return {
    // In an app that is disconnected nothing can be given; what is there stays.
    give: [...things.values()].filter(
      ({ key, app }) => !kept.has(key) && app.disconnectedAt === null,
    ),
    take: held.filter((one) => !stays(one)),
  }
}

export const isDifferent = <H extends Held>({ give, take }: Difference<H>): boolean =>
  give.length + take.length > 0
