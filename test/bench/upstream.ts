/** An empty system for the built-in connectors, because only the way to it is measured. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Upstream = {
  /** Host and port. */
  address: string
  close(): void
}

/** Answers a SCIM list to callers that ask for SCIM, and an empty JSON list to others. */
export async function startUpstream(): Promise<Upstream> {
  const server = createServer((request, response) => {
    const scim = { Resources: [], totalResults: 0, startIndex: 1, itemsPerPage: 0 }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url?.startsWith('/scim') ? scim : []))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    address: `127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
