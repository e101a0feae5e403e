/** That a server is ready, and what it serves. */
import type { Log } from '../observe/log.ts'

/** What is wrong with a connector is said before; that none is left would otherwise be an empty list. */
export function tellReady(connectors: readonly string[], log: Log): void {
  log.info({ connectors }, 'ready')
  if (connectors.length === 0)
    log.error('no connector is served: the lines above say why, and `keyway list` does')
}
