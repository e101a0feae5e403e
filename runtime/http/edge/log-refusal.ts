/** Log lines of requests that were answered with a 5xx status. */
import type { CoreError, RefusalKind } from '../../contract/errors/problem.ts'
import type { Log } from '../../observe/log.ts'
import { statusOfRefusal } from './statuses.ts'

/**
 * Level of a line. All other kinds are defects of Keyway and logged as errors. A failure of another system,
 * or an operation that it does not support, is not Keyway's failure. An unavailable database is reported by
 * /readyz, and is normal at startup.
 */
const LEVELS: Readonly<Partial<Record<RefusalKind, 'info' | 'warn'>>> = {
  not_implemented: 'info',
  upstream_failed: 'info',
  unavailable: 'warn',
}

/** Logs a refusal that the caller did not cause. */
export function logRefusal(
  log: Log,
  error: CoreError,
  about: { requestId: string; path: string },
): void {
  if (statusOfRefusal(error) < 500) return
  log[LEVELS[error.kind] ?? 'error']({ err: error.cause, ...about }, error.message)
}
