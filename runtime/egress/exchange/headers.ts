/** Headers: which a connector may set, which the host sets, which come back. */

import { isRefusedName } from '../../contract/connector/refused-headers.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'

/** Name and value pairs in order; names may repeat. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** What may follow a redirect to another origin; anything else may be a credential. */
const KEPT_ACROSS_ORIGINS =
  /^(accept|accept-.*|content-.*|user-agent|cache-control|pragma|range|if-.*|prefer)$/

/** Headers of a reply that speak about a form in which the guest never sees it, or are not its business. */
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

/** What the host is able to decode: see decode.ts. */
const ACCEPT_ENCODING = 'gzip, br, deflate'

/**
 * Headers as they are sent: the connector's own (names in lower case), a user-agent if it has none, and
 * the host's own accept-encoding in any case, because the host decodes.
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
    // Before anything looks at the text. What is sent is Latin-1: a character is a byte.
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

/** Headers for a redirect to another origin: only those that cannot carry a credential. */
export const withoutCredentials = (headers: HeaderList): HeaderList =>
  headers.filter(([name]) => KEPT_ACROSS_ORIGINS.test(name.toLowerCase()))

/**
 * Headers as they are handed back: names in lower case, without cookies and connection headers, and
 * without length and encoding where the host has decoded the body.
 */
export function replyHeaders(headers: HeaderList, decoded: boolean): [string, string][] {
  return headers
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => !DROPPED_FROM_REPLY.has(name))
    .filter(([name]) => !(decoded && (name === 'content-encoding' || name === 'content-length')))
}

/** The values of one header, in order, joined as HTTP lists are; `null` if it is not there. */
export function headerValue(headers: HeaderList, wanted: string): string | null {
  const values = headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value)
  return values.length === 0 ? null : values.join(', ')
}

/** What time it is by the clock of the server that answered, in milliseconds since the epoch; `nowMs` where nothing says. */
export function theirTime(headers: HeaderList, nowMs: number): number {
  const told = Date.parse(headerValue(headers, 'date') ?? '')
  return Number.isNaN(told) ? nowMs : told
}

function refuseHeader(name: string, value: string): void {
  const shown = JSON.stringify(name.slice(0, 60))
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name))
    throw new RuntimeError('egress_header', `${shown} is not a header name`)
  if (isRefusedName(name))
    throw new RuntimeError('egress_header', `The header ${shown} may not be set by a connector`)
  // CR and LF would begin a header or a request of their own (request splitting).
  if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value))
    throw new RuntimeError(
      'egress_header',
      `The value of the header ${shown} holds a character that cannot be sent (control, or outside Latin-1)`,
    )
}
