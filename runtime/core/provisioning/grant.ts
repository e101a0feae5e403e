/** Granting the access of a request through the connector. The system is read before and after. */
import type { AccountStatus } from '../../contract/models/account.ts'
import type { Db } from '../../database/database.ts'
import { ensureAccount, type Giving, keepProvisionedAccount } from './account.ts'
import { type AppClient, failedCall, type StepOutcome, type SystemAnswer } from './client.ts'
import type { PairGrant } from './pair.ts'
import {
  canBeRead,
  grantOf,
  holdsEntitlement,
  statusOf,
  UNUSABLE,
  untilAssociation,
  untilStatus,
} from './read-back.ts'

const done = (found: boolean): StepOutcome => ({ ok: true, found })

/** Grants access to the app itself: a usable account. */
export async function grantAccount(
  db: Db,
  carrier: AppClient,
  request: PairGrant,
  { noteThere, unsettled }: Giving,
): Promise<StepOutcome> {
  const account = await ensureAccount(db, carrier, request, null, noteThere)
  if (!('account' in account)) return account
  if (!account.found) return done(false)
  const status = await settledStatus(carrier, account.account, unsettled)
  if (!status.ok) return failedCall(status.error)
  if (status.value === 'ACTIVE') {
    await noteThere(true)
    return done(true)
  }
  if (status.value === null) {
    // The account was deleted since it was stored. The next try creates another.
    await keepProvisionedAccount(db, request, { account: null, making: true })
    return { ok: false, fault: 'call', problem: 'the known account no longer exists' }
  }
  await noteThere(false)
  return wakeAccount(db, carrier, request, account.account, status.value)
}

/** Activates an unusable account. */
async function wakeAccount(
  db: Db,
  carrier: AppClient,
  request: PairGrant,
  account: string,
  status: string,
): Promise<StepOutcome> {
  if (!carrier.has('activate_account'))
    return { ok: false, fault: 'manual', problem: `the account is ${status}` }
  // Set before sending: revocation must know that Keyway activated the account.
  await keepProvisionedAccount(db, request, { made: true })
  const woken = await carrier.call('activate_account', { account_id: account })
  if (!woken.ok) return failedCall(woken.error)
  const shown = await untilStatus(carrier, account, (status) => status === 'ACTIVE')
  if (!shown.ok) return failedCall(shown.error)
  return shown.value ? done(false) : notShown('activate_account')
}

const notShown = (capability: string): StepOutcome => ({
  ok: false,
  fault: 'call',
  problem: `${capability} reported success, but the system does not show it`,
})

/** Grants an entitlement. */
export async function grantEntitlement(
  db: Db,
  carrier: AppClient,
  request: PairGrant,
  { noteThere, unsettled }: Giving,
): Promise<StepOutcome> {
  const { entitlement } = request
  if (entitlement === null) throw new Error('there is no entitlement to grant')
  const account = await ensureAccount(db, carrier, request, entitlement, noteThere)
  if (!('account' in account)) return account
  const id = account.account
  if (account.found) {
    const usable = await ensureUsable(db, carrier, request, id, unsettled)
    if (!usable.ok) return usable
  }
  if (canBeRead(carrier)) {
    const before = await holdsEntitlement(carrier, id, entitlement)
    if (!before.ok) return failedCall(before.error)
    await noteThere(before.value)
    if (before.value && !unsettled) return done(true)
    if (before.value) {
      const gone = await untilAssociation(carrier, id, entitlement, false)
      if (!gone.ok) return failedCall(gone.error)
      if (!gone.value) return done(true)
    }
  } else await noteThere(false)
  if (!carrier.has('assign_entitlement'))
    return { ok: false, fault: 'manual', problem: 'the connector cannot assign entitlements' }
  const assigned = await carrier.call('assign_entitlement', grantOf(id, entitlement))
  if (!assigned.ok) {
    // The stored account no longer exists in the system. The next try looks for it again.
    if (assigned.error.error_code === 'not_found')
      await keepProvisionedAccount(db, request, { account: null, making: true })
    return failedCall(assigned.error)
  }
  if (!canBeRead(carrier)) return done(false)
  const shown = await untilAssociation(carrier, id, entitlement, true)
  if (!shown.ok) return failedCall(shown.error)
  return shown.value ? done(false) : notShown('assign_entitlement')
}

/**
 * Activates the account if it is unusable, since entitlements are useless then. Does nothing if the connector
 * cannot read a single account.
 */
async function ensureUsable(
  db: Db,
  carrier: AppClient,
  request: PairGrant,
  account: string,
  unsettled: boolean,
): Promise<StepOutcome> {
  if (!carrier.has('get_account')) return done(true)
  const status = await settledStatus(carrier, account, unsettled)
  if (!status.ok) return failedCall(status.error)
  if (status.value === null || !UNUSABLE.includes(status.value)) return done(true)
  return wakeAccount(db, carrier, request, account, status.value)
}

/** Returns the status of an account. If it may be about to be closed, waits as long as that takes to show. */
async function settledStatus(
  carrier: AppClient,
  account: string,
  unsettled: boolean,
): Promise<SystemAnswer<AccountStatus | null>> {
  const status = await statusOf(carrier, account)
  if (!unsettled || !status.ok || status.value !== 'ACTIVE') return status
  const closed = await untilStatus(carrier, account, (now) => now !== 'ACTIVE')
  if (!closed.ok) return closed
  return closed.value ? statusOf(carrier, account) : status
}
