/**
 * Refuses requests that a proxy may interpret differently: paths that are not in their plain form, more than
 * one Host header.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Log } from '../../observe/log.ts'
import { pathFault } from './canonical-path.ts'
import { failureOf } from './problem.ts'
import { REQUEST_ID } from './request-id.ts'
import { envelopeStatus } from './statuses.ts'

/** Answers 400 before routing. All other requests go on to `next`. */
export function refuseOddRequests(log: Log, next: RequestListener): RequestListener {
  return (incoming, outgoing) => {
    const error = oddity(incoming)
    if (error === null) return next(incoming, outgoing)
    const requestId = randomUUID()
    log.info({ requestId, code: error.code }, error.message)
    const { body: failure, contentType } = failureOf(error, '', incoming.url ?? '')
    const body = JSON.stringify(failure)
    outgoing.writeHead(envelopeStatus(error.code), {
      'content-type': contentType,
      'content-length': Buffer.byteLength(body),
      [REQUEST_ID]: requestId,
      // The body that follows is not read.
      connection: 'close',
    })
    outgoing.end(body)
  }
}

/** Returns the error for an odd request, or null. */
function oddity({ url = '', rawHeaders }: IncomingMessage): RuntimeError | null {
  const fault = pathFault(url)
  if (fault !== null)
    return new RuntimeError(
      'path_not_canonical',
      `the path is not in its plain form: ${fault}; send it as documented at /docs`,
    )
  // RFC 9112 section 3.2. Node keeps the first and drops the others.
  if (hostsIn(rawHeaders) > 1)
    return new RuntimeError('host_repeated', 'there is more than one Host header; send one')
  return null
}

/** Returns the number of Host headers among raw ones: name, value, name, value. */
const hostsIn = (raw: readonly string[]): number =>
  raw.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length
