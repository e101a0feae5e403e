/** A built-in connector without its pace: what is tried here is what it does, not how long that takes. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { HostOptions } from './host.ts'

/** The id of a connector's copy. */
export const unpacedId = (id: string): string => `${id}-unpaced`

/** What a host needs to serve the copy, and to let it reach an address (`127.0.0.1:8080`). */
export async function unpaced(id: string, address: string): Promise<HostOptions> {
  const folder = path.join(import.meta.dirname, '..', '..', 'plugins', id)
  const files = await Promise.all(
    (await readdir(folder)).map(
      async (name) => [name, await readFile(path.join(folder, name), 'utf8')] as const,
    ),
  )
  const copy = Object.fromEntries(files)
  const manifest = JSON.parse(copy['connector.json'] ?? '')
  const limits = { ...manifest.limits, requests_per_second: 10_000, concurrent_requests: 64 }
  return {
    env: {
      KEYWAY_PRIVATE_EGRESS: `${unpacedId(id)}=${address}`,
      KEYWAY_MAX_REQUESTS_PER_SECOND: '10000',
    },
    connectors: {
      [unpacedId(id)]: {
        ...copy,
        'connector.json': JSON.stringify({ ...manifest, id: unpacedId(id), limits }),
      },
    },
  }
}
