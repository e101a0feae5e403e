/** The third-party system of a soak: it knows the token of each tenant, and records what it receives. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type SoakUpstream = {
  url: string
  /** How often each grant has arrived, by `tenant/grant`. */
  grants: ReadonlyMap<string, number>
  /** Invalid requests: another tenant's token, or an unknown one. */
  wrong: readonly string[]
  close(): Promise<void>
}

/** The token of a tenant. */
export const tokenOf = (tenant: string): string => `token-of-${tenant}-5e1f9a`

/** Response time for accounts whose id starts with `slow`, in milliseconds. */
const SLOW_MS = 250

/** The upstream's id of an account. */
export const accountOf = (tenant: string, id: string): string => `${tenant}/${id}`

export async function startSoakUpstream(): Promise<SoakUpstream> {
  const grants = new Map<string, number>()
  const wrong: string[] = []
  const server = createServer((incoming, outgoing) => {
    incoming.resume()
    const [, tenant = '', noun = '', id = ''] = (incoming.url ?? '').split('/')
    const { authorization } = incoming.headers
    if (authorization !== `Bearer ${tokenOf(tenant)}`)
      wrong.push(`${incoming.url} came with ${authorization}`)
    if (noun === 'grants') {
      const key = `${tenant}/${id}`
      grants.set(key, (grants.get(key) ?? 0) + 1)
      return void outgoing.writeHead(204).end()
    }
    if (id.startsWith('never')) return
    const answer = () => void outgoing.end(accountOf(tenant, id))
    if (id.startsWith('slow')) setTimeout(answer, SLOW_MS)
    else answer()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    grants,
    wrong,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
