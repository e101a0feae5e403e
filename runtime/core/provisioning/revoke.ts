/** Revoking, through the connector, access that a request granted. The system is read before and after. */
import type { Db } from '../../database/database.ts'
import type { EntitlementRef } from '../../database/schema/requests.ts'
import { keptText } from '../kernel/kept-text.ts'
import { findAccount, keepProvisionedAccount, provisionedAccountOf } from './account.ts'
import { type AppClient, failedCall, type StepOutcome } from './client.ts'
import type { PairGrant } from './pair.ts'
import {
  canBeRead,
  grantOf,
  statusOf,
  UNUSABLE,
  untilAssociation,
  untilStatus,
} from './read-back.ts'
import { revokeFromSuccessors, successorsOf, withoutEvidence } from './successors.ts'

const gone = (found: boolean): StepOutcome => ({ ok: true, found })

/** Revokes an entitlement. */
export async function revokeEntitlement(
  db: Db,
  carrier: AppClient,
  request: PairGrant,
): Promise<StepOutcome> {
  const { entitlement } = request
  if (entitlement === null) throw new Error('there is no entitlement to revoke')
  const account = await findAccount(db, carrier, request)
  if (!account.ok) return failedCall(account.error)
  if (account.value === null) return gone(true)
  return revokeFromSuccessors(db, carrier, account.value, request.targetUserId, (id) =>
    takeEntitlement(carrier, id, entitlement),
  )
}

/** Revokes an entitlement from an account that holds it, and waits until the system no longer shows it. */
export async function takeEntitlement(
  carrier: AppClient,
  id: string,
  entitlement: EntitlementRef,
): Promise<StepOutcome> {
  if (canBeRead(carrier)) {
    // A recent grant may not be shown yet. The entitlement counts as removed only if it stays absent.
    const before = await untilAssociation(carrier, id, entitlement, true)
    if (!before.ok) return failedCall(before.error)
    if (!before.value) return gone(true)
  }
  if (!carrier.has('unassign_entitlement'))
    return { ok: false, fault: 'manual', problem: 'the connector cannot revoke entitlements' }
  const taken = await carrier.call('unassign_entitlement', grantOf(id, entitlement))
  if (!taken.ok && taken.error.error_code !== 'not_found') return failedCall(taken.error)
  // An account that does not exist holds nothing.
  if (!canBeRead(carrier)) return gone(!taken.ok)
  const left = await untilAssociation(carrier, id, entitlement, false)
  if (!left.ok) return failedCall(left.error)
  return left.value ? gone(false) : stillThere('unassign_entitlement')
}

const stillThere = (capability: string): StepOutcome => ({
  ok: false,
  fault: 'call',
  problem: `${capability} reported success, but the system still shows it`,
})

/** Closes an account that was created or activated for a request: deactivates or else deletes it. */
export async function revokeAccount(
  db: Db,
  carrier: AppClient,
  request: PairGrant,
): Promise<StepOutcome> {
  const { making } = await provisionedAccountOf(db, request, carrier.app.domainId)
  if (making) {
    // A creation was sent and its result is unknown.
    const found = await findAccount(db, carrier, request)
    if (!found.ok) return failedCall(found.error)
    if (found.value === null && !carrier.has('list_accounts'))
      return {
        ok: false,
        fault: 'manual',
        problem: 'an account may have been created, and the connector cannot list accounts',
      }
  }
  const { account, made } = await provisionedAccountOf(db, request, carrier.app.domainId)
  if (account === null || !made) return gone(true)
  const deactivates = carrier.has('deactivate_account')
  const capability = deactivates ? 'deactivate_account' : 'delete_account'
  const outcome = await closeUnlessMoved(db, carrier, account, request.targetUserId, capability)
  // A deleted account is forgotten. A deactivated one may be activated again.
  if (outcome.ok)
    await keepProvisionedAccount(db, request, {
      made: false,
      leftBy: null,
      ...(deactivates ? {} : { account: null }),
    })
  return outcome
}

/**
 * Makes an account unusable. If it does not exist and its owner has another one since, people have to look:
 * it may have been renamed, or another one may have been created by hand.
 */
export async function closeUnlessMoved(
  db: Db,
  carrier: AppClient,
  account: string,
  userId: string | null,
  capability: Closing,
): Promise<StepOutcome> {
  const outcome = await makeUnusable(carrier, account, capability)
  if (!outcome.ok || !outcome.found) return outcome
  const since = await successorsOf(db, carrier, account, userId)
  if (!since.ok) return failedCall(since.error)
  for (const id of since.value) {
    const status = await statusOf(withoutEvidence(carrier), id)
    if (!status.ok) return failedCall(status.error)
    if (UNUSABLE.includes(status.value)) continue
    const name = keptText(id, MAX_NAME)
    const problem = `the account no longer exists, but its owner now has ${name}. If that is the same account, renamed or moved, close it`
    return { ok: false, fault: 'manual', problem }
  }
  return outcome
}

/** Maximum length of an account id in a task, in characters. */
const MAX_NAME = 300

type Closing = 'deactivate_account' | 'delete_account'

/** Deactivates or deletes a usable account, and waits until the system no longer shows it as usable. */
export async function makeUnusable(
  carrier: AppClient,
  account: string,
  capability: Closing,
): Promise<StepOutcome> {
  // A recent creation or activation may not be shown yet.
  const usable = await untilStatus(carrier, account, (status) =>
    capability === 'deactivate_account' ? !UNUSABLE.includes(status) : status !== null,
  )
  if (!usable.ok) return failedCall(usable.error)
  if (!usable.value) return gone(true)
  if (!carrier.has(capability)) {
    const able =
      capability === 'deactivate_account'
        ? 'cannot deactivate'
        : 'can neither deactivate nor delete'
    return { ok: false, fault: 'manual', problem: `the connector ${able} accounts` }
  }
  const taken = await carrier.call(capability, { account_id: account })
  if (!taken.ok && taken.error.error_code !== 'not_found') return failedCall(taken.error)
  const left = await untilStatus(carrier, account, (status) => UNUSABLE.includes(status))
  if (!left.ok) return failedCall(left.error)
  return left.value ? gone(false) : stillThere(capability)
}
