/** A built-in connector without its rate limits: these tests check behaviour, not duration. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { HostOptions } from './host.ts'

/** The id of a connector's copy. */
export const unpacedId = (id: string): string => `${id}-unpaced`

/** Options of a host that serves the copy and lets it reach an address (`127.0.0.1:8080`). */
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
