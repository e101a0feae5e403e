/** What the log says of a request that was answered with a status of the 500s. */
import type { CoreError, RefusalKind } from '../../contract/errors/problem.ts'
import type { Log } from '../../observe/log.ts'
import { statusOfRefusal } from './statuses.ts'

/**
 * The level of a line; others are a defect of ours, and errors. That another system failed, or cannot do it, is none of our
 * failures; that the database is away is said by /readyz, and passes with each start.
 */
const LEVELS: Readonly<Partial<Record<RefusalKind, 'info' | 'warn'>>> = {
  not_implemented: 'info',
  upstream_failed: 'info',
  unavailable: 'warn',
}

/** Logs a refusal whose reason is not the caller. */
export function tellRefusal(
  log: Log,
  error: CoreError,
  about: { requestId: string; path: string },
): void {
  if (statusOfRefusal(error) < 500) return
  log[LEVELS[error.kind] ?? 'error']({ err: error.cause, ...about }, error.message)
}
