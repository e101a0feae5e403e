/** The requests that are sent to every contender. */
import type { Target } from './load/loads.ts'

const TOKEN = { auth: { token: { token: 'bench-token' } } }
const WRITE = {
  account_integration_specific_id: 'u1',
  resource_integration_specific_id: '',
  resource_type: '',
  entitlement_type: 'GROUP',
  entitlement_integration_specific_id: 'g1',
}

export type Workload = { name: string; capability: string; body: object }

export const LIST: Workload = {
  name: 'list of 100 accounts',
  capability: 'list_accounts',
  body: { ...TOKEN, request: {} },
}
export const WRITE_ONE: Workload = {
  name: 'small write',
  capability: 'assign_entitlement',
  body: { ...TOKEN, request: WRITE },
}
export const WORKLOADS: readonly Workload[] = [LIST, WRITE_ONE]

/** A workload in the form that a load sends. */
export const targetOf = ({ capability, body }: Workload): Target => ({
  path: `/connectors/bench/${capability}`,
  body: JSON.stringify(body),
})

/**
 * Checks that all servers answer a workload with the same bytes.
 *
 * @throws Error naming the server whose answer differs from the first one's.
 */
export async function compareAnswers(
  servers: readonly { name: string; url: string }[],
  workload: Workload,
): Promise<void> {
  const { path, body } = targetOf(workload)
  const headers = { 'content-type': 'application/json' }
  const texts = await Promise.all(
    servers.map(async ({ url }) =>
      (await fetch(url + path, { method: 'POST', headers, body })).text(),
    ),
  )
  const other = texts.findIndex((text) => text !== texts[0])
  if (other === -1) return
  const [first, differs] = [servers[0]?.name, servers[other]?.name]
  throw new Error(`${differs} answers ${workload.name} differently from ${first}: ${texts[other]}`)
}
