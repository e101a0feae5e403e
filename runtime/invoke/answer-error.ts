/**
 * Converts a failed reply of the guest to the error for the caller: the message of the guest, classified by
 * the host.
 */
import { isErrorCode } from '../contract/envelope/envelope.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import type { Reply } from '../protocol/frames.ts'
import type { Redact } from '../redact/redact.ts'

/** Maximum length of a message for the caller, in characters. */
const MAX_MESSAGE_LENGTH = 2000

/**
 * Returns the error of a failed reply. A guest cannot pose as `Keyway`: refusals of egress come from the
 * host's own record (`fetchError`), everything else is attributed to the connector.
 */
export function answerError(
  reply: Extract<Reply, { ok: false }>,
  fetchError: RuntimeError | null,
  raisedIn: string,
  redact: Redact,
): RuntimeError {
  if ('refused' in reply)
    return new RuntimeError(reply.refused, redact(reply.message), { raisedIn })
  if ('fetch' in reply) {
    if (!fetchError)
      return new RuntimeError('connector_threw', 'the connector failed', { raisedIn })
    const { code, message, details } = fetchError
    const { appErrorCode } = details
    const own = appErrorCode == null ? {} : { appErrorCode: redact(appErrorCode) }
    return new RuntimeError(code, redact(message), { ...details, ...own, raisedIn }, fetchError)
  }
  const { code, message, app_error_code, status_code, raised_by } = reply.error
  const raisedBy = classOf(raised_by)
  return new RuntimeError(
    raisedBy === 'ConnectorError' || raisedBy === 'HTTPStatusError'
      ? 'connector_error'
      : 'connector_threw',
    redact(message).slice(0, MAX_MESSAGE_LENGTH).trim() === ''
      ? `the connector threw ${redact(raisedBy).slice(0, 200)} without a message`
      : redact(message).slice(0, MAX_MESSAGE_LENGTH),
    {
      wire: isErrorCode(code) ? code : 'unexpected_error',
      raisedBy: redact(raisedBy).slice(0, 200),
      raisedIn,
      ...(status_code === null ? {} : { statusCode: status_code }),
      ...(app_error_code === null ? {} : { appErrorCode: redact(app_error_code).slice(0, 200) }),
    },
  )
}

/**
 * Returns the class that the guest names, if it is a class name and not one of Keyway's. Rejects leading
 * blanks and look-alikes.
 */
const classOf = (name: string | null): string =>
  name !== null && /^[A-Za-z_$][\w$.-]*$/.test(name) && !/^keyway/i.test(name)
    ? name
    : 'ConnectorError'
