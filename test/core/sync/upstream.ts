/** A scripted system for syncs: its content can change, and it can fail or hang at any request. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export const KINDS = ['accounts', 'resources', 'entitlements', 'associations', 'activity'] as const
/** Kinds that most upstreams have nothing of. */
type Rare = 'expenses'
export type Kind = (typeof KINDS)[number]

export type Fault = { status: number; code: string; retryAfter?: string }

export type Upstream = {
  host: string
  baseUrl: string
  /** The items of each listing, as a connector returns them. */
  holds: Record<Kind, object[]> & Partial<Record<Rare, object[]>>
  /** Accounts that exist, but are missing from the listing. */
  hidden: object[]
  /** Called before each page; a fault that it returns is the reply. `cursor` is empty for the first page. */
  before(
    kind: string,
    cursor: string,
    authorization: string,
  ): Fault | undefined | Promise<Fault | undefined>
  /** The cursor after a page, if it is to differ from the next position. */
  next(kind: string, cursor: string): string | undefined
  /** Listings that restart after their end, under new cursors. */
  restarting: Set<string>
  /**
   * Returns the reply to a write, by default success; it has to apply the change itself. `tenant` is the path
   * below which the app is connected.
   */
  answerWrite(
    kind: string,
    request: Record<string, string>,
    tenant: string,
  ): object | Promise<object>
  /** Pages and accounts that were requested, in order. */
  asked: string[]
  close(): Promise<void>
}

type WithId = { integration_specific_id?: string; account_id?: string }

export async function startUpstream(): Promise<Upstream> {
  const server = createServer(async (request, reply) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://upstream')
    // A path below a tenant is another system to Keyway, with the same content.
    const [kind = '', id] = pathname.split('/').filter((part) => !/^(tenant-.*)?$/.test(part))
    const [tenant = ''] = /\/tenant-[^/]*/.exec(pathname) ?? []
    const cursor = searchParams.get('cursor') ?? ''
    upstream.asked.push(`${kind} ${id ?? cursor}`)
    const fault = await upstream.before(kind, cursor, request.headers.authorization ?? '')
    reply.setHeader('content-type', 'application/json')
    if (fault) {
      reply.statusCode = fault.status
      if (fault.retryAfter !== undefined) reply.setHeader('retry-after', fault.retryAfter)
      reply.end(JSON.stringify({ code: fault.code }))
      return
    }
    if (request.method === 'POST') {
      let text = ''
      for await (const chunk of request) text += chunk
      reply.end(JSON.stringify(await upstream.answerWrite(kind, JSON.parse(text), tenant)))
      return
    }
    if (id !== undefined) return one(decodeURIComponent(id))
    const ids = searchParams.get('ids')?.split(',')
    const all = ((upstream.holds[kind as Kind | Rare] ?? []) as WithId[]).filter(
      (item) => !ids || ids.includes(item.account_id ?? ''),
    )
    const size = Number(searchParams.get('size'))
    const at = Number(cursor || 0)
    const restarts = upstream.restarting.has(kind)
    const start = restarts && all.length > 0 ? at % all.length : at
    const hasMore = restarts || at + size < all.length
    const next = upstream.next(kind, cursor) ?? (hasMore ? String(at + size) : undefined)
    reply.end(JSON.stringify({ items: all.slice(start, start + size), next }))

    function one(wanted: string): void {
      const all = [...upstream.holds.accounts, ...upstream.hidden] as WithId[]
      const found = all.find((item) => item.integration_specific_id === wanted)
      reply.statusCode = found ? 200 : 404
      reply.end(JSON.stringify(found ?? { code: 'not_found' }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const upstream: Upstream = {
    host,
    baseUrl: `http://${host}`,
    holds: { accounts: [], resources: [], entitlements: [], associations: [], activity: [] },
    hidden: [],
    before: () => undefined,
    next: () => undefined,
    restarting: new Set(),
    answerWrite: () => ({ unassigned: true }),
    asked: [],
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return upstream
}

/** Never replies; only the deadline of the call or the end of the host ends it. */
export const hang = (): Promise<undefined> => pause(3_600_000, undefined, { ref: false })

export const account = (id: string, more: object = {}) => ({
  integration_specific_id: id,
  email: `${id}@example.com`,
  given_name: id,
  family_name: 'Test',
  user_status: 'ACTIVE',
  ...more,
})

export const entitlement = (id: string, more: object = {}) => ({
  entitlement_type: 'GROUP',
  integration_specific_id: id,
  integration_specific_resource_id: '',
  label: `Group ${id}`,
  is_assignable: true,
  ...more,
})

export const association = (account_id: string, entitlement_id: string, resource = '') => ({
  account_id,
  integration_specific_entitlement_id: entitlement_id,
  integration_specific_resource_id: resource,
})
