/** What follows from a redirect. Pure; whether the next address is allowed is judged as for any other. */
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { OutgoingRequest } from './exchange.ts'
import { type HeaderList, headerValue, withoutCredentials } from './headers.ts'

/** Statuses that redirect when they come with a Location. */
const REDIRECTS = [301, 302, 303, 307, 308]

/** The Location of a redirect, or `null` if the reply is none. */
export const redirectTarget = (status: number, headers: HeaderList): string | null =>
  REDIRECTS.includes(status) ? headerValue(headers, 'location') : null

/**
 * The request that follows a redirect, as WHATWG fetch makes it: 303, and 301 and 302 after a POST,
 * become GET without a body. Towards another origin only headers that cannot carry a credential go.
 *
 * @throws upstream_garbled if the Location cannot be read
 */
export function nextRequest(
  request: OutgoingRequest,
  from: URL,
  status: number,
  location: string,
): OutgoingRequest {
  const to = URL.parse(location, from)
  if (to === null)
    throw new RuntimeError(
      'upstream_garbled',
      `${from.host} redirects to an address that cannot be read`,
    )
  const { method } = request
  const becomesGet =
    (status === 303 && method !== 'GET' && method !== 'HEAD') ||
    ((status === 301 || status === 302) && method === 'POST')
  const kept = to.origin === from.origin ? request.headers : withoutCredentials(request.headers)
  return {
    url: to.href,
    method: becomesGet ? 'GET' : method,
    headers: becomesGet ? kept.filter(([name]) => !/^content-/i.test(name)) : kept,
    body: becomesGet ? null : request.body,
  }
}
