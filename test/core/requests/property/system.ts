/**
 * A badly behaved third-party system in memory: it shows writes late, accepts a second account with the same
 * address, and fails before or after it has carried out a call.
 */
import type { ErrorCode } from '../../../../runtime/contract/errors/error-codes.ts'
import type { Connectors } from '../../../../runtime/core/kernel/context/connectors.ts'
import { faultOf } from '../../../../runtime/core/kernel/faults.ts'
import type { Random } from './random.ts'

type State = { accounts: Map<string, { email: string; status: string }>; held: Set<string> }
type Write = (state: State) => void

/** Thrown instead of an answer when the calling host is killed. */
export class Killed extends Error {}

/** How every call fails; `retryAfterMs` is the wait that the system asks for. */
export type Outage = { code: ErrorCode; retryAfterMs?: number }

export type System = ReturnType<typeof createSystem>

export const CONNECTOR = 'model'
const ENTITLEMENT = 'GROUP'

export function createSystem(choose: Random, nowMs: () => number, consistencyMs: number) {
  const truth: State = { accounts: new Map(), held: new Set() }
  const shown: State = { accounts: new Map(), held: new Set() }
  const late: { atMs: number; write: Write }[] = []
  let lastMs = 0
  let count = 0
  let failures = 0
  let outage: Outage | null = null
  const story: string[] = []

  function write(does: Write, lagMs = choose.below(consistencyMs + 1)): void {
    does(truth)
    // Writes become visible in their order, as with replication.
    lastMs = Math.max(lastMs, nowMs() + lagMs)
    late.push({ atMs: lastMs, write: does })
  }

  /** Makes all earlier writes visible, as a person waits until the system shows them. */
  function settle(): void {
    lastMs = nowMs()
    for (const one of late) one.atMs = lastMs
  }

  function look(): State {
    while (late[0] && late[0].atMs <= nowMs()) late.shift()?.write(shown)
    return shown
  }

  const key = (account: string, entitlement: string) => `${account} ${entitlement}`

  const add = (email: string, lagMs?: number): string => {
    count += 1
    const id = `account-${count}`
    write(({ accounts }) => accounts.set(id, { email, status: 'ACTIVE' }), lagMs)
    return id
  }
  const setStatus = (id: string, status: string, lagMs?: number) =>
    write(({ accounts }) => {
      const account = accounts.get(id)
      if (account) accounts.set(id, { ...account, status })
    }, lagMs)
  const give = (account: string, entitlement: string, lagMs?: number) =>
    write(({ held }) => held.add(key(account, entitlement)), lagMs)
  const take = (account: string, entitlement: string, lagMs?: number) =>
    write(({ held }) => held.delete(key(account, entitlement)), lagMs)

  type CapabilityRequest = Record<string, string>
  const page = (response: unknown) => ({ ok: true, response, page: null }) as const
  const notFound = () =>
    ({ ok: false, error: { error_code: 'not_found', message: 'there is none' } }) as never

  /** What each capability does and answers. */
  const CAPABILITIES: Record<string, (request: CapabilityRequest) => ReturnType<typeof page>> = {
    list_accounts: () =>
      page(
        [...look().accounts].map(([id, { email, status }]) => ({
          integration_specific_id: id,
          email,
          username: email,
          user_status: status,
        })),
      ),
    get_account: ({ account_id = '' }) => {
      const account = look().accounts.get(account_id)
      return account ? page({ user_status: account.status }) : notFound()
    },
    get_account_entitlement_associations: ({ account_id = '' }) =>
      page(
        [...look().held]
          .filter((one) => one.startsWith(`${account_id} `))
          .map((one) => ({
            account_id,
            integration_specific_entitlement_id: one.slice(account_id.length + 1),
            integration_specific_resource_id: '',
          })),
      ),
    create_account: ({ email = '' }) => {
      const id = add(email)
      return page({ id: choose.chance(0.5) ? id : null })
    },
    activate_account: ({ account_id = '' }) => {
      if (!truth.accounts.has(account_id)) return notFound()
      setStatus(account_id, 'ACTIVE')
      return page({})
    },
    deactivate_account: ({ account_id = '' }) => {
      if (!truth.accounts.has(account_id)) return notFound()
      setStatus(account_id, 'SUSPENDED')
      return page({})
    },
    assign_entitlement: (request) => {
      const account = request['account_integration_specific_id'] ?? ''
      if (!truth.accounts.has(account)) return notFound()
      give(account, request['entitlement_integration_specific_id'] ?? '')
      return page({})
    },
    unassign_entitlement: (request) => {
      const account = request['account_integration_specific_id'] ?? ''
      if (!truth.accounts.has(account)) return notFound()
      take(account, request['entitlement_integration_specific_id'] ?? '')
      return page({})
    },
  }

  const manifest = {
    capabilities: Object.fromEntries(Object.keys(CAPABILITIES).map((name) => [name, {}])),
    entitlement_types: [],
    consistency_ms: consistencyMs,
  }

  // The cast: the answer fits each capability, and a row of the table expects that of one.
  const fault = (code: string) =>
    ({ ok: false, error: { error_code: code, message: 'the test makes this call fail' } }) as never

  const connectors = (mayFail: () => number, at: (what: string) => void): Connectors => ({
    ids: () => [CONNECTOR],
    find: () => ({ manifest }) as never,
    async call({ capability, body }) {
      // The host may be killed before or after the call.
      at(`before ${capability}`)
      await Promise.resolve()
      const request = (body as { request: CapabilityRequest }).request
      if (outage !== null) {
        const { code, retryAfterMs } = outage
        const does = !faultOf(code).undone && choose.chance(0.3)
        story.push(`${capability} ${JSON.stringify(request)} ${code}, ${does ? '' : 'not '}done`)
        if (does) CAPABILITIES[capability]?.(request)
        return { ...(fault(code) as object), retryAfterMs } as never
      }
      const end = choose.chance(mayFail())
        ? choose.one(['before', 'after', 'lie', 'refused'] as const)
        : 'well'
      if (end !== 'well') failures += 1
      story.push(`${capability} ${JSON.stringify(request)} ${end}`)
      if (end === 'before') return fault('service_error')
      if (end === 'refused') return fault('bad_request')
      if (end === 'lie' && !capability.startsWith('get') && !capability.startsWith('list'))
        return page({ id: null })
      const answer = CAPABILITIES[capability]?.(request) ?? fault('not_implemented')
      at(`behind ${capability}`)
      return end === 'after' ? fault('request_timeout') : answer
    },
  })

  return {
    truth,
    story,
    /** Makes every call fail this way, until it is set to null. */
    fails: (how: Outage | null) => {
      outage = how
    },
    connectors,
    failures: () => failures,
    /** Manual changes, which are visible at once. */
    byHand: {
      account: (email: string): string => {
        settle()
        const own = [...truth.accounts].find(([, one]) => one.email === email)
        if (!own) return add(email, 0)
        setStatus(own[0], 'ACTIVE', 0)
        return own[0]
      },
      give: (account: string, entitlement: string) => {
        settle()
        give(account, entitlement, 0)
      },
      take: (account: string, entitlement: string) => {
        settle()
        take(account, entitlement, 0)
      },
      close: (account: string) => {
        settle()
        setStatus(account, 'SUSPENDED', 0)
      },
    },
    accountsOf: (email: string) =>
      [...truth.accounts].filter(([, one]) => one.email === email).map(([id]) => id),
    holds: (email: string, entitlement: string): boolean =>
      [...truth.accounts].some(
        ([id, one]) => one.email === email && truth.held.has(key(id, entitlement)),
      ),
    isOpen: (email: string): boolean =>
      [...truth.accounts.values()].some((one) => one.email === email && one.status === 'ACTIVE'),
    entitlementType: ENTITLEMENT,
  }
}
