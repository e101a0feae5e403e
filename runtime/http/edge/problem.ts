/** The only place where an error becomes an HTTP answer. */

import type { Context } from 'hono'
import { SCIM_PATH } from '../../contract/endpoints/scim.ts'
import { ENDPOINTS } from '../../contract/endpoints/table.ts'
import { errorBody } from '../../contract/envelope/envelope.ts'
import { ERRORS, RuntimeError } from '../../contract/errors/errors.ts'
import { SCIM_MEDIA_TYPE, SCIM_URNS } from '../../contract/models/scim.ts'
import { tellFailure } from '../../observe/failure.ts'
import type { Log } from '../../observe/log.ts'
import type { Env } from './env.ts'
import { exhausted } from './exhausted-resources.ts'
import { REQUEST_ID } from './request-id.ts'
import { REFUSAL_STATUS } from './statuses.ts'

/** Creates the handler of all thrown errors. */
export function createOnError(log: Log) {
  return (thrown: Error, c: Context<Env>): Response => {
    const requestId = c.get('requestId')
    const appId = c.get('appId') ?? ''
    const error = problemOf(thrown, requestId)
    const { refusal, blame } = ERRORS[error.code]
    // Below /operator the status reports the outcome, because scripts must not take a failure for a success.
    const failed = blame === 'caller' ? 'invalid' : 'internal'
    const kind = refusal ?? (c.req.path.startsWith('/operator/') ? failed : null)
    const status = kind === null ? 200 : REFUSAL_STATUS[kind]
    tellFailure(log, error, { requestId, connector: appId, path: c.req.path })
    c.header(REQUEST_ID, requestId)
    const { body, contentType } = failureOf(error, appId, c.req.path)
    return c.newResponse(JSON.stringify(body), status, { 'content-type': contentType })
  }
}

/** First segments of the core interface's paths. */
const CORE_SEGMENTS: ReadonlySet<string> = new Set(
  Object.values(ENDPOINTS).map(({ path }) => firstSegment(path)),
)

const SCIM_SEGMENT = firstSegment(SCIM_PATH)

/**
 * Returns the body of an error. A request that is refused before it is routed gets the error format of the
 * interface to which its path belongs.
 */
export function failureOf(
  error: RuntimeError,
  appId: string,
  path: string,
): { body: object; contentType: string } {
  const first = firstSegment(path)
  if (first === SCIM_SEGMENT) return { body: scimError(error), contentType: SCIM_MEDIA_TYPE }
  const body = CORE_SEGMENTS.has(first) ? { detail: error.message } : errorBody(error, appId)
  return { body, contentType: 'application/json' }
}

/** Creates a SCIM error (RFC 7644 section 3.12). */
function scimError({ code, message }: RuntimeError): object {
  const status = String(REFUSAL_STATUS[ERRORS[code].refusal ?? 'internal'])
  return { schemas: [SCIM_URNS.error], status, detail: message }
}

/** Returns the first name of a path in any form: `users` of `//%75sers/x`. */
function firstSegment(path: string): string {
  const first = path.split(/[/\\?]/).find((one) => one !== '' && one !== '.') ?? ''
  return first.replace(/%[0-7][0-9a-f]/gi, (code) => decodeURIComponent(code))
}

/** Converts a thrown value to an error that can be shown to the caller. */
export const problemOf = (thrown: unknown, requestId: string): RuntimeError =>
  thrown instanceof RuntimeError ? thrown : defect(thrown, requestId)

/** Converts an unforeseen error. The caller gets the request id; the log gets the rest. */
function defect(thrown: unknown, requestId: string): RuntimeError {
  const out = exhausted(thrown)
  if (out) return out
  const message = `something went wrong in Keyway itself; see ${requestId} in its log`
  return new RuntimeError('internal', message, {}, thrown)
}
