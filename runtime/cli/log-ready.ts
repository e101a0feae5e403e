/** The log lines of a server that is ready. */
import type { Log } from '../observe/log.ts'

/** Logs the connectors. The reason for a missing one was logged before. A server without any is an error. */
export function tellReady(connectors: readonly string[], log: Log): void {
  log.info({ connectors }, 'ready')
  if (connectors.length === 0)
    log.error('no connector is served: the lines above and `keyway list` show why')
}
