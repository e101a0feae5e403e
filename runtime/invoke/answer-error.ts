/** What a failed reply of the guest means to the caller: the guest's words, the host's judgement. */
import { isErrorCode } from '../contract/envelope/envelope.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import type { Reply } from '../protocol/frames.ts'
import type { Redact } from '../redact/redact.ts'

/** Longest message that leaves, in characters. */
const MAX_MESSAGE_LENGTH = 2000

/**
 * The error of a failed reply. A guest cannot make itself `Keyway`: what egress refused comes from the
 * host's own record (`fetchError`), everything else is the connector's word.
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

/** The class that the guest names, where it is one and not ours: no blanks or look-alikes before it. */
const classOf = (name: string | null): string =>
  name !== null && /^[A-Za-z_$][\w$.-]*$/.test(name) && !/^keyway/i.test(name)
    ? name
    : 'ConnectorError'
