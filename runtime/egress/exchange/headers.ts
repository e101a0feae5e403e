/** Headers that a connector may set, that the host sets, and that are returned. */

import { isRefusedName } from '../../contract/connector/refused-headers.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'

/** Name and value pairs in order. Names may repeat. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** Headers that may follow a redirect to another origin. Any other may be a credential. */
const KEPT_ACROSS_ORIGINS =
  /^(accept|accept-.*|content-.*|user-agent|cache-control|pragma|range|if-.*|prefer)$/

/** Reply headers that describe an encoding which the guest never sees, or that do not concern it. */
const DROPPED_FROM_REPLY = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'set-cookie',
  'set-cookie2',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Content codings that decode.ts can decode. */
const ACCEPT_ENCODING = 'gzip, br, deflate'

/**
 * Returns the headers as they are sent: the connector's own (names in lower case), a user-agent if it has
 * none, and always the host's own accept-encoding, because the host decodes.
 *
 * @throws egress_header naming the header
 */
export function prepareHeaders(
  headers: HeaderList,
  { userAgent, maxHeaderBytes }: { userAgent: string; maxHeaderBytes: number },
): Record<string, string[]> {
  const sent = new Map<string, string[]>()
  let bytes = 0
  for (const [written, value] of headers) {
    // Check the size before the text is read. Headers are sent as Latin-1: a character is a byte.
    bytes += written.length + value.length
    if (bytes > maxHeaderBytes)
      throw new RuntimeError(
        'egress_header',
        `The request headers are over ${maxHeaderBytes} bytes`,
      )
    const name = written.toLowerCase()
    refuseHeader(name, value)
    const values = sent.get(name)
    if (values === undefined) sent.set(name, [value])
    else values.push(value)
  }
  if (!sent.has('user-agent')) sent.set('user-agent', [userAgent])
  sent.set('accept-encoding', [ACCEPT_ENCODING])
  return Object.fromEntries(sent)
}

/** Returns the headers for a redirect to another origin: only those that cannot contain a credential. */
export const withoutCredentials = (headers: HeaderList): HeaderList =>
  headers.filter(([name]) => KEPT_ACROSS_ORIGINS.test(name.toLowerCase()))

/**
 * Returns the headers of a reply: names in lower case, without cookies and connection headers, and without
 * length and encoding if the host has decoded the body.
 */
export function replyHeaders(headers: HeaderList, decoded: boolean): [string, string][] {
  return headers
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => !DROPPED_FROM_REPLY.has(name))
    .filter(([name]) => !(decoded && (name === 'content-encoding' || name === 'content-length')))
}

/** Returns the values of one header, in order, joined like HTTP lists; `null` if it is missing. */
export function headerValue(headers: HeaderList, wanted: string): string | null {
  const values = headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value)
  return values.length === 0 ? null : values.join(', ')
}

/**
 * Returns the time of the server that answered, in milliseconds since the epoch, or `nowMs` if it sent none.
 */
export function serverTime(headers: HeaderList, nowMs: number): number {
  const dateMs = Date.parse(headerValue(headers, 'date') ?? '')
  return Number.isNaN(dateMs) ? nowMs : dateMs
}

function refuseHeader(name: string, value: string): void {
  const shown = JSON.stringify(name.slice(0, 60))
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name))
    throw new RuntimeError('egress_header', `${shown} is not a header name`)
  if (isRefusedName(name))
    throw new RuntimeError('egress_header', `The header ${shown} may not be set by a connector`)
  // CR and LF would begin another header or request (request splitting).
  if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value))
    throw new RuntimeError(
      'egress_header',
      `The value of the header ${shown} holds a character that cannot be sent (control, or outside Latin-1)`,
    )
}
