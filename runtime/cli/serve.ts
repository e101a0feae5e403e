/** Listening, and stopping without losing a call. */
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import type { Host } from '../main.ts'

/** How long a stop waits for calls that are under way, in milliseconds. */
const DRAIN_MS = 30_000

export type Listening = { url: string; stop(): Promise<void> }

/** Listens; the address says the port that was really taken. */
export async function listen(host: Host, config: Config): Promise<Listening> {
  const server = serve({ fetch: host.app.fetch, hostname: config.host, port: config.port })
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', reject)
  })
  const { address, port, family } = server.address() as AddressInfo
  const name = family === 'IPv6' ? `[${address}]` : address
  return {
    url: `http://${name}:${port}`,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      const patience = new Promise<void>((resolve) => setTimeout(resolve, DRAIN_MS).unref())
      await Promise.race([closed, patience])
      if ('closeAllConnections' in server) server.closeAllConnections()
      await host.stop()
    },
  }
}

/** Stops at SIGINT or SIGTERM: what was accepted is answered first. A second signal ends at once. */
export function stopOnSignal(log: Log, stop: () => Promise<void>): void {
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1)
      stopping = true
      log.info({ signal }, 'stopping; calls under way are answered first')
      stop().then(
        () => process.exit(0),
        (error) => {
          log.error({ err: error }, 'stopping failed')
          process.exit(1)
        },
      )
    })
  }
}
