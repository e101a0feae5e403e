/** The one place where an error becomes an HTTP answer. */
import type { Context } from 'hono'
import { errorBody } from '../contract/envelope.ts'
import { ERRORS, RuntimeError } from '../contract/errors.ts'
import type { Doer } from '../core/activity/activity.ts'
import type { Log } from '../log.ts'
import { REQUEST_ID } from './request-id.ts'

/** What the routes keep on Hono's context. */
export type Variables = {
  requestId: string
  appId: string
  /** Who operates: in whose name a change below /operator is recorded. */
  operator: () => Promise<Doer>
}
export type Env = { Variables: Variables }

/** Makes the handler of everything that is thrown. */
export function createOnError(log: Log) {
  return (thrown: Error, c: Context<Env>): Response => {
    const requestId = c.get('requestId')
    const appId = c.get('appId') ?? ''
    const error = thrown instanceof RuntimeError ? thrown : defect(thrown, requestId)
    const { blame, status: usual = 200 } = ERRORS[error.code]
    // Below /operator a status says how it ended: scripts must not take a failure for done.
    const status = usual === 200 && c.req.path.startsWith('/operator/') ? 500 : usual
    const { code, message, cause, details } = error
    const line = {
      requestId,
      connector: appId,
      code,
      path: c.req.path,
      raised_in: details.raisedIn,
    }
    if (blame === 'runtime') log.error({ ...line, err: cause ?? error }, message)
    else if (blame === 'caller') log.info(line, message)
    else log.warn(line, message)
    c.header(REQUEST_ID, requestId)
    return c.json(errorBody(error, appId), status as 200)
  }
}

/** What the system says when it has no more of something for this process. */
const EXHAUSTED: readonly unknown[] = [
  ...['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS'],
  // The disk is full.
  ...['ENOSPC', 'EDQUOT'],
]

/** Whether the machine is at its limits, and not the runtime at fault. */
export const isExhausted = (thrown: unknown): boolean =>
  EXHAUSTED.includes((thrown as NodeJS.ErrnoException | null)?.code)

/** Anything unforeseen: the caller gets the request id, the log gets the rest. */
function defect(thrown: unknown, requestId: string): RuntimeError {
  if (isExhausted(thrown)) {
    const message = 'the system gives the host no more resources; try again later'
    return new RuntimeError('host_exhausted', message, {}, thrown)
  }
  const message = `something went wrong in Keyway itself; its log has more under ${requestId}`
  return new RuntimeError('internal', message, {}, thrown)
}
