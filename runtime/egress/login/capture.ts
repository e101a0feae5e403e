/** Captures the token, and its lifetime, from the answer to an exchange. */

import type { Manifest } from '../../contract/connector/manifest.ts'
import { upstreamCode, upstreamMessage } from '../../contract/connector/upstream-status.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { parseForeignTime } from '../../contract/schema/datetime.ts'
import { pointedAt } from '../../contract/schema/json-pointer.ts'
import type { Redact } from '../../redact/redact.ts'
import type { EgressReply, Token } from '../call/call.ts'
import { headerValue, serverTime } from '../exchange/headers.ts'
import { MAX_PARSED_BYTES } from '../limits/limits.ts'

/** Lifetime of a token whose answer has none, in milliseconds. The upstream may refuse the token earlier. */
const DEFAULT_LIFE_MS = 3_600_000
/**
 * A token is renewed this long before it expires, or a tenth of its lifetime if that is less. In
 * milliseconds.
 */
const MARGIN_MS = 60_000
const MAX_TOKEN_LENGTH = 16_384

/** Size of an answer that is searched for secrets before it is cut, in bytes. More than a message repeats. */
const MAX_SHOWN_BYTES = 64 * 1024

/**
 * Returns the token of an answer. `hide` removes the secrets of the login from a text.
 *
 * @throws exchange_failed for a status that is not 2xx, exchange_empty if the answer has no token
 */
export function capture(
  reply: EgressReply,
  { capture: place, expires }: NonNullable<Manifest['exchange']>,
  nowMs: number,
  hide: Redact,
): Token {
  const { status, url, body } = reply
  if (status < 200 || status > 299) {
    const wire = status === 400 || status === 401 ? 'unauthenticated' : upstreamCode(status)
    throw new RuntimeError(
      'exchange_failed',
      `The login failed: ${upstreamMessage(status, hide(url), hide(body.toString('utf8', 0, MAX_SHOWN_BYTES)))}`,
      { wire, statusCode: status },
    )
  }
  const where = 'header' in place ? `header ${place.header}` : place.json
  const value =
    'header' in place
      ? headerValue(reply.headers, place.header.toLowerCase())
      : pointedAt(parse(body), place.json)
  if (typeof value !== 'string' || value === '' || value.length > MAX_TOKEN_LENGTH)
    throw new RuntimeError(
      'exchange_empty',
      `The login at ${hide(url.replace(/[?#].*$/, ''))} answered ${status} without a token: nothing at ${where}`,
      { statusCode: status },
    )
  // By the clock of the server that sent it: with clocks that differ, every request could log in.
  const lifeMs = lifeOf(expires, body, serverTime(reply.headers, nowMs))
  const goodUntilMs = nowMs + lifeMs - Math.min(MARGIN_MS, lifeMs / 10)
  return { value, madeMs: performance.now(), goodUntilMs }
}

function lifeOf(
  expires: NonNullable<Manifest['exchange']>['expires'],
  body: Buffer,
  nowMs: number,
): number {
  if (expires === undefined) return DEFAULT_LIFE_MS
  if ('seconds' in expires) return expires.seconds * 1000
  const value = pointedAt(parse(body), expires.json)
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof number === 'number') {
    // A year is about 3e7 seconds, the time since the epoch more than 1e9 seconds or 1e12 milliseconds.
    if (number < 1e9) return number * 1000
    return (number < 1e12 ? number * 1000 : number) - nowMs
  }
  const untilMs = typeof value === 'string' ? parseForeignTime(value) : null
  return untilMs === null ? DEFAULT_LIFE_MS : untilMs - nowMs
}

function parse(body: Buffer): unknown {
  if (body.length > MAX_PARSED_BYTES) return null
  try {
    return JSON.parse(body.toString())
  } catch {
    // Reported as an answer without a token.
    return null
  }
}
