/** Reading the status and the entitlements of an account in its system. */
import type { AccountStatus } from '../../contract/models/account.ts'
import { STANDINGS } from '../../contract/models/app.ts'
import type { EntitlementRef } from '../../database/schema/requests.ts'
import type { AppClient, SystemAnswer } from './client.ts'

type Association = {
  account_id: string
  integration_specific_entitlement_id: string
  integration_specific_resource_id: string
}

/** Reports whether the system can be asked for the entitlements of accounts. */
export const canBeRead = ({ has }: AppClient): boolean =>
  has('get_account_entitlement_associations') || has('find_entitlement_associations')

/** Reports whether an account holds an entitlement. Reads the account's own list if possible, else all. */
export async function holdsEntitlement(
  carrier: AppClient,
  account: string,
  { entitlementId, resourceId }: EntitlementRef,
): Promise<SystemAnswer<boolean>> {
  let met = false
  const more = (items: Association[]): boolean => {
    met = items.some(
      (one) =>
        one.account_id === account &&
        one.integration_specific_entitlement_id === entitlementId &&
        one.integration_specific_resource_id === resourceId,
    )
    return !met
  }
  const ofAccount = carrier.has('get_account_entitlement_associations')
  const capability = ofAccount
    ? 'get_account_entitlement_associations'
    : 'find_entitlement_associations'
  const end = await carrier.eachPage(capability, ofAccount ? { account_id: account } : {}, more)
  // An account that does not exist holds nothing.
  if (!end.ok && end.error.error_code !== 'not_found') return end
  const shown = end.ok && met
  carrier.looked?.({ capability, shown })
  return { ok: true, value: shown }
}

/** Waits until an account holds an entitlement, or until it does not (`until` of AppClient). */
export const untilAssociation = (
  carrier: AppClient,
  account: string,
  ref: EntitlementRef,
  isHeld: boolean,
): Promise<SystemAnswer<boolean>> =>
  carrier.until(async () => {
    const now = await holdsEntitlement(carrier, account, ref)
    return now.ok ? now.value === isHeld : now
  })

/** Returns the request of assign_entitlement and unassign_entitlement. */
export const grantOf = (account: string, ref: EntitlementRef) => ({
  account_integration_specific_id: account,
  resource_integration_specific_id: ref.resourceId,
  resource_type: ref.resourceType,
  entitlement_type: ref.entitlementType,
  entitlement_integration_specific_id: ref.entitlementId,
})

/** States in which an account gives no access; null means that it does not exist. */
export const UNUSABLE: readonly (AccountStatus | null)[] = [
  null,
  'SUSPENDED',
  'DEPROVISIONED',
  'INACTIVE',
  'DELETED',
]

type Account = { user_status?: AccountStatus | null }

/** Returns the status of an account, null if there is none. Without statuses, all accounts are active. */
export async function statusOf(
  carrier: AppClient,
  account: string,
): Promise<SystemAnswer<AccountStatus | null>> {
  const status = await readStatus(carrier, account)
  const capability = carrier.has('get_account') ? 'get_account' : 'list_accounts'
  if (!status.ok) return status
  if (status.value !== null) carrier.standings.set(account, STANDINGS[status.value])
  carrier.looked?.({ capability, shown: !UNUSABLE.includes(status.value) })
  return status
}

/** Waits until the status of an account is as wanted (`until` of AppClient). */
export const untilStatus = (
  carrier: AppClient,
  account: string,
  isWanted: (status: AccountStatus | null) => boolean,
): Promise<SystemAnswer<boolean>> =>
  carrier.until(async () => {
    const now = await statusOf(carrier, account)
    return now.ok ? isWanted(now.value) : now
  })

async function readStatus(
  carrier: AppClient,
  account: string,
): Promise<SystemAnswer<AccountStatus | null>> {
  if (carrier.has('get_account')) {
    const answer = await carrier.call<Account>('get_account', { account_id: account })
    if (answer.ok) return { ok: true, value: answer.value.user_status ?? 'ACTIVE' }
    return answer.error.error_code === 'not_found' ? { ok: true, value: null } : answer
  }
  let status: AccountStatus | null = null
  const end = await carrier.eachPage<Account & { integration_specific_id: string }>(
    'list_accounts',
    {},
    (items) => {
      const one = items.find(({ integration_specific_id: id }) => id === account)
      status = one ? (one.user_status ?? 'ACTIVE') : null
      return one === undefined
    },
  )
  return end.ok ? { ok: true, value: status } : end
}
