/** Listening, and stopping without losing a call: a balancer hears of it first where there is one. */
import { createServer, type RequestListener, Server, type ServerOptions } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import { type Config, ConfigError } from '../config/config.ts'
import { codeOf } from '../contract/errors/thrown.ts'
import type { Host } from '../main.ts'
import type { Log } from '../observe/log.ts'
import { watchLauncher } from './launcher.ts'
import { endStalled } from './stalled.ts'

/** How long a stop waits for calls that are under way, in milliseconds. */
const DRAIN_MS = 30_000

/** How long it waits then until those that are left have been told, in milliseconds. */
const TELL_MS = 1000

export type Listening = { url: string; stop(): Promise<void> }

/** How often connections without a call are closed while stopping, in milliseconds. */
const SWEEP_MS = 50

/** How long after a signal the same one is still the first, in milliseconds. */
const SAME_SIGNAL_MS = 1000

/**
 * Listens; the address says the port that was really taken.
 *
 * @throws ConfigError when the address cannot be taken.
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
    // The cast: its overloads allow a server without a listener; the adaptor always hands one over.
    createServer: ((options: ServerOptions, answer: RequestListener) =>
      createServer(options, host.refuseOdd(answer))) as typeof createServer,
  })
  if (!(server instanceof Server)) throw new Error('the adaptor made no HTTP server')
  const front = host.standBefore(server)
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
      // Callers keep connections that are idle again once their call is answered.
      const sweep = setInterval(() => {
        if ('closeIdleConnections' in server) server.closeIdleConnections()
        front.endIdle()
      }, SWEEP_MS)
      const patience = (ms: number) =>
        new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
      await Promise.race([closed, patience(drainMs)])
      // What runs still ends here: with an answer that says so, not with a connection that breaks.
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

/** What a failure to listen says about the setting that chose the address; other errors as they are. */
export function addressError(error: Error, setting: string, host: string, port: number): Error {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new ConfigError(
        `${setting}: ${host}:${port} is taken by another program, or by another Keyway; stop that, or choose another port (0 takes any free one)`,
      )
    case 'EACCES':
      return new ConfigError(`${setting}: ${port} is not yours to take; choose one above 1023`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ConfigError(`HOST: ${host} is no address of this machine`)
    default:
      return error
  }
}

/**
 * Stops at SIGINT or SIGTERM: what was accepted is answered first. A second signal ends at once; one
 * that comes within a second is the first again: a terminal sends it to every process, npm once more.
 * Stops too when the npm that started it is gone.
 */
export function stopOnSignal(log: Log, stop: () => Promise<void>): void {
  let stoppingSinceMs: number | null = null
  const begin = (why: object) => {
    stoppingSinceMs = performance.now()
    log.info(why, 'stopping; calls under way are answered first')
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
