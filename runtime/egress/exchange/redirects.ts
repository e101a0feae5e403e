/** Follows redirects. Pure. The next URL is judged like any other. */
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { OutgoingRequest } from './exchange.ts'
import { type HeaderList, headerValue, withoutCredentials } from './headers.ts'

/** Statuses that redirect if they have a Location. */
const REDIRECTS = [301, 302, 303, 307, 308]

/** Returns the Location of a redirect, or `null` for another reply. */
export const redirectTarget = (status: number, headers: HeaderList): string | null =>
  REDIRECTS.includes(status) ? headerValue(headers, 'location') : null

/**
 * Returns the request that follows a redirect, as WHATWG fetch does: 303, and 301 and 302 after a POST,
 * become GET without a body. Only headers that cannot contain a credential are sent to another origin.
 *
 * @throws upstream_garbled if the Location cannot be parsed
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
