/** Logs a failed call or request. */
import { ERRORS, type RuntimeError } from '../contract/errors/errors.ts'
import type { Log } from './log.ts'

/** Logs an error. The level depends on who must act on it. */
export function tellFailure(
  log: Log,
  error: RuntimeError,
  about: Record<string, unknown>,
  words: string = error.message,
): void {
  const { code, cause, details } = error
  const line = { ...about, code, raised_in: details.raisedIn }
  const { blame } = ERRORS[code]
  if (blame === 'runtime') log.error({ ...line, err: cause ?? error }, words)
  else if (blame === 'caller') log.info(line, words)
  else log.warn(line, words)
}
