/** A generated upstream: every page is computed on request, and none is stored. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Number of entitlements of each account. */
export const HELD = 3
/** Number of entitlements. */
export const ENTITLEMENTS = 1000

const accountId = (n: number): string => `u${String(n).padStart(9, '0')}`

/**
 * The nth entitlement of an account: spread, and never the same twice. The bench has the same formula in SQL.
 */
const heldBy = (n: number, k: number): number => (n * 7 + k * 131) % ENTITLEMENTS

const item: Record<string, (n: number) => object> = {
  accounts: (n) => ({
    integration_specific_id: accountId(n),
    email: `person.${n}@example.com`,
    given_name: `Person ${n}`,
    family_name: `Number ${n}`,
    username: `person.${n}`,
    user_status: n % 50 === 0 ? 'SUSPENDED' : 'ACTIVE',
  }),
  entitlements: (n) => ({
    entitlement_type: 'GROUP',
    integration_specific_id: `g${n}`,
    integration_specific_resource_id: '',
    label: `Group ${n}`,
    is_assignable: true,
  }),
  associations: (n) => ({
    account_id: accountId(Math.floor(n / HELD)),
    integration_specific_entitlement_id: `g${heldBy(Math.floor(n / HELD), n % HELD)}`,
    integration_specific_resource_id: '',
  }),
}

export type Generated = { host: string; pages(): number; close(): Promise<void> }

/** Does not answer a request if `holds` says so of the number of items that were served until then. */
export async function startGenerated(
  accounts: number,
  holds: (served: number) => boolean = () => false,
): Promise<Generated> {
  const totals: Record<string, number> = {
    accounts,
    entitlements: ENTITLEMENTS,
    associations: accounts * HELD,
  }
  let pages = 0
  let served = 0
  const server = createServer((request, reply) => {
    if (holds(served)) return
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://upstream')
    const kind = pathname.slice(1)
    const total = totals[kind] ?? 0
    const make = item[kind] ?? (() => ({}))
    const start = Number(searchParams.get('cursor') || 0)
    const end = Math.min(total, start + Number(searchParams.get('size')))
    const items = Array.from({ length: Math.max(0, end - start) }, (_, n) => make(start + n))
    pages += 1
    served += items.length
    reply.setHeader('content-type', 'application/json')
    reply.end(JSON.stringify({ items, ...(end < total ? { next: String(end) } : {}) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages: () => pages,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
