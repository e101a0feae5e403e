/** The one place where an error becomes an HTTP answer. */
import type { Context } from 'hono'
import { errorBody } from '../contract/envelope.ts'
import { ERRORS, RuntimeError } from '../contract/errors.ts'
import type { Operator } from '../core/callers/operator.ts'
import { isDiskFull } from '../database/full-disk.ts'
import type { Log } from '../log.ts'
import { REQUEST_ID } from './request-id.ts'

/** What the routes keep on Hono's context. */
export type Variables = {
  requestId: string
  appId: string
  /** Who operates, asked again: in whose name a change below /operator is recorded. */
  operator: () => Promise<Operator>
}
export type Env = { Variables: Variables }

/** Makes the handler of everything that is thrown. */
export function createOnError(log: Log) {
  return (thrown: Error, c: Context<Env>): Response => {
    const requestId = c.get('requestId')
    const appId = c.get('appId') ?? ''
    const error = problemOf(thrown, requestId)
    const { status: usual = 200, blame } = ERRORS[error.code]
    // Below /operator a status says how it ended: scripts must not take a failure for done.
    const failed = blame === 'caller' ? 422 : 500
    const status = usual === 200 && c.req.path.startsWith('/operator/') ? failed : usual
    tellFailure(log, error, { requestId, connector: appId, path: c.req.path })
    c.header(REQUEST_ID, requestId)
    return c.json(errorBody(error, appId), status as 200)
  }
}

/** A thrown value as an error that can be shown to the caller. */
export const problemOf = (thrown: unknown, requestId: string): RuntimeError =>
  thrown instanceof RuntimeError ? thrown : defect(thrown, requestId)

/** The log line of an error, as loud as who has to do something about it. */
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

/** What the system says when it has no more of something for this process. */
const EXHAUSTED: readonly unknown[] = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS']

/** What of the machine is at its limits, where that and not the runtime is at fault; else null. */
export function exhausted(thrown: unknown): RuntimeError | null {
  const message = isDiskFull(thrown)
    ? 'the disk of the host is full; its operator has to make room, then try again'
    : EXHAUSTED.includes((thrown as NodeJS.ErrnoException | null)?.code)
      ? 'the system gives the host no more resources; try again later'
      : null
  return message === null ? null : new RuntimeError('host_exhausted', message, {}, thrown)
}

/** Anything unforeseen: the caller gets the request id, the log gets the rest. */
function defect(thrown: unknown, requestId: string): RuntimeError {
  const out = exhausted(thrown)
  if (out) return out
  const message = `something went wrong in Keyway itself; its log has more under ${requestId}`
  return new RuntimeError('internal', message, {}, thrown)
}
