/** Listens, and stops without losing a call. A load balancer, if there is one, is notified first. */
import { createServer, type RequestListener, Server, type ServerOptions } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import { type Config, ConfigError } from '../config/config.ts'
import { codeOf } from '../contract/errors/thrown.ts'
import type { Host } from '../main.ts'
import type { Log } from '../observe/log.ts'
import { watchLauncher } from './launcher.ts'
import { endStalled } from './stalled-clients.ts'

/** Time that a stop waits for open calls, in milliseconds. */
const DRAIN_MS = 30_000

/** Time that it then waits for the remaining calls to be answered with an error, in milliseconds. */
const TELL_MS = 1000

export type Listening = { url: string; stop(): Promise<void> }

/** Interval at which connections without a call are closed while stopping, in milliseconds. */
const SWEEP_MS = 50

/** Time within which a repeated signal counts as the first one, in milliseconds. */
const SAME_SIGNAL_MS = 1000

/**
 * Listens. The returned address has the actual port.
 *
 * @throws ConfigError if the address cannot be used
 */
export async function listen(
  host: Host,
  config: Config,
  drainMs: number = DRAIN_MS,
): Promise<Listening> {
  const server = serve({
    fetch: host.app.fetch,
    hostname: config.host,
    port: config.port,
    // The cast: the overloads allow a server without a listener, but the adaptor always passes one.
    createServer: ((options: ServerOptions, answer: RequestListener) =>
      createServer(options, host.refuseOdd(answer))) as typeof createServer,
  })
  if (!(server instanceof Server)) throw new Error('the adaptor made no HTTP server')
  const front = host.interceptConnections(server)
  const leaveStalled = endStalled(server)
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', (error) => reject(addressError(error, 'PORT', config.host, config.port)))
  })
  const at = server.address()
  if (at === null || typeof at === 'string') throw new Error('the server listens on no port')
  const { address, port, family } = at
  const name = family === 'IPv6' ? `[${address}]` : address
  return {
    url: `http://${name}:${port}`,
    async stop() {
      if (config.stopNoticeMs > 0) {
        host.readyAfter('it is being stopped', new Promise(() => {}))
        await pause(config.stopNoticeMs)
      }
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      host.endFollowing()
      // Callers keep connections open that become idle once their call is answered.
      const sweep = setInterval(() => {
        if ('closeIdleConnections' in server) server.closeIdleConnections()
        front.endIdle()
      }, SWEEP_MS)
      const patience = (ms: number) =>
        new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
      await Promise.race([closed, patience(drainMs)])
      // Calls that still run end here, with an error response instead of a broken connection.
      host.lanes.stop()
      await Promise.race([closed, patience(TELL_MS)])
      clearInterval(sweep)
      leaveStalled()
      front.stop()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await host.stop()
    },
  }
}

/**
 * Converts a failure to listen to an error about the setting that chose the address. Returns other errors
 * unchanged.
 */
export function addressError(error: Error, setting: string, host: string, port: number): Error {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new ConfigError(
        `${setting}: ${host}:${port} is used by another program, or by another Keyway; stop that, or choose another port (0 picks a free one)`,
      )
    case 'EACCES':
      return new ConfigError(
        `${setting}: ${port} needs privileges that this user lacks; choose one above 1023`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ConfigError(`HOST: ${host} is not an address of this machine`)
    default:
      return error
  }
}

/**
 * Stops at SIGINT or SIGTERM, after accepted calls are answered. A second signal exits at once. A signal
 * within a second of the first counts as the same one: a terminal sends it to every process, and npm sends it
 * again. Also stops when the npm that started this process has exited.
 */
export function stopOnSignal(log: Log, stop: () => Promise<void>): void {
  let stoppingSinceMs: number | null = null
  const begin = (why: object) => {
    stoppingSinceMs = performance.now()
    log.info(why, 'stopping; running calls are answered first')
    stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stoppingSinceMs === null) return begin({ signal })
      if (performance.now() - stoppingSinceMs > SAME_SIGNAL_MS) process.exit(1)
    })
  }
  watchLauncher(() => {
    if (stoppingSinceMs === null) begin({ because: 'the npm that started it is gone' })
  })
}
