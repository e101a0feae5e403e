/** Calls a connector's handlers under Node, over Node's own fetch: no sandbox, no host. */

import type { InferInput } from 'valibot'
import { expect } from 'vitest'
import type {
  CAPABILITIES,
  CapabilityName,
  Output,
} from '../../runtime/contract/capabilities/capabilities.ts'
import type { Json } from '../../runtime/contract/schema/json.ts'
import type { ConnectorContext, Handlers, Paged } from '../../runtime/sdk/sdk.ts'

/** A request as a caller sends it; fields of the connector's own are allowed. */
type Request<N extends CapabilityName> = InferInput<(typeof CAPABILITIES)[N]['input']> &
  Record<string, unknown>

/** A tenant of a connector with a token and one setting, `base_url`. */
export type Tenant = { baseUrl: string; token: string }
type Settings = { base_url: string }
type Connector = Handlers<Settings>

/** A context as a handler gets one, over Node's own fetch. */
export function contextOf(
  tenant: Tenant,
  cursor: Json = null,
  size: number | null = null,
): ConnectorContext<Settings> {
  return {
    fetch: fetch as unknown as ConnectorContext['fetch'],
    ldap: {} as ConnectorContext['ldap'],
    sql: {} as ConnectorContext['sql'],
    auth: { token: { token: tenant.token } } as ConnectorContext['auth'],
    credentials: {},
    settings: { base_url: tenant.baseUrl },
    page: { cursor, size },
    raw: () => {},
    log: { debug() {}, info() {}, warn() {}, error() {} },
    signal: new AbortController().signal,
    sign: { jwt: () => '', serviceAccount: () => '', oauth1: () => '', aws: () => '' },
    exchange: undefined,
    basic: () => '',
    now: () => 0,
  }
}

/** Calls a capability up to its last page; returns the responses of all pages. Cursors go through JSON. */
export async function pagesOf<N extends CapabilityName>(
  connector: Connector,
  tenant: Tenant,
  name: N,
  request: Request<N>,
  size: number | null = null,
): Promise<Output<N>[]> {
  const handler = connector[name] as unknown as (
    request: Request<N>,
    ctx: ConnectorContext<Settings>,
  ) => Promise<Output<N> | Paged<Output<N>>>
  const pages: Output<N>[] = []
  let cursor: Json = null
  do {
    const reply = await handler(request, contextOf(tenant, cursor, size))
    const page = Object(reply) as Partial<Paged<Output<N>>>
    const isPaged = page.__paged === true
    pages.push((isPaged ? page.response : reply) as Output<N>)
    cursor = isPaged ? JSON.parse(JSON.stringify(page.cursor)) : null
  } while (cursor !== null)
  return pages
}

/** Calls a capability that answers on one page. */
export async function call<N extends CapabilityName>(
  connector: Connector,
  tenant: Tenant,
  name: N,
  request: Request<N>,
): Promise<Output<N>> {
  const pages = await pagesOf(connector, tenant, name, request)
  expect(pages).toHaveLength(1)
  return pages[0] as Output<N>
}
