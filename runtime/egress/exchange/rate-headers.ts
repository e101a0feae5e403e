/**
 * Reads an upstream's rate limit: how long to wait, and whether the limit is used up. `Retry-After` (RFC 9110
 * section 10.2.3), the RateLimit headers of the IETF's drafts, and the `X-RateLimit-*` family, whose reset is
 * a time for some servers and a delay for others.
 */
import { parseForeignTime } from '../../contract/schema/datetime.ts'
import { type HeaderList, headerValue, serverTime } from './headers.ts'

/** Maximum wait, in milliseconds. A longer one is a fault of the server, or has another unit. */
const MAX_WAIT_MS = 3_600_000

/** Above these values, a reset is a time since the epoch: in seconds, or in milliseconds. */
const EPOCH_SECONDS = 1_000_000_000
const EPOCH_MS = 1_000_000_000_000

/** Returns how long the upstream asks to send no requests, in milliseconds; 0 if it does not ask. */
export function askedWaitMs(status: number, headers: HeaderList, ownMs: number): number {
  const nowMs = serverTime(headers, ownMs)
  const after = retryAfterMs(headerValue(headers, 'retry-after'), nowMs)
  if (after !== null && isRefusal(status, headers)) return bounded(after)
  return noneLeft(headers) ? bounded(resetMs(headers, nowMs) ?? 0) : 0
}

/** Reports whether an answer refuses only because of the rate. Such a request was not carried out. */
export const isRefusal = (status: number, headers: HeaderList): boolean =>
  status === 429 ||
  status === 503 ||
  // GitHub's own limits are a 403 (its documentation, "Rate limits for the REST API").
  (status === 403 && (noneLeft(headers) || headerValue(headers, 'retry-after') !== null))

/** Parses `120`, or a date. */
function retryAfterMs(text: string | null, nowMs: number): number | null {
  if (text === null) return null
  if (/^\s*\d+(\.\d+)?\s*$/.test(text)) return Number(text) * 1000
  const at = parseForeignTime(text)
  return at === null ? null : at - nowMs
}

const REMAINING = ['ratelimit-remaining', 'x-ratelimit-remaining', 'x-rate-limit-remaining']
const RESET = ['ratelimit-reset', 'x-ratelimit-reset', 'x-rate-limit-reset']

function noneLeft(headers: HeaderList): boolean {
  const remaining = first(headers, REMAINING) ?? member(headers, 'remaining', 'r')
  return remaining !== null && Number(remaining) <= 0
}

function resetMs(headers: HeaderList, nowMs: number): number | null {
  const text = first(headers, RESET) ?? member(headers, 'reset', 't')
  if (text === null) return null
  const reset = Number(text)
  if (reset > EPOCH_MS) return reset - nowMs
  return reset > EPOCH_SECONDS ? reset * 1000 - nowMs : reset * 1000
}

function first(headers: HeaderList, names: readonly string[]): string | null {
  for (const name of names) {
    const value = headerValue(headers, name)?.trim()
    if (value !== undefined && /^\d+(\.\d+)?$/.test(value)) return value
  }
  return null
}

/** Returns a member of the RateLimit header: `limit=100, remaining=0, reset=5` or `"default";r=0;t=5`. */
function member(headers: HeaderList, long: string, short: string): string | null {
  const text = headerValue(headers, 'ratelimit')
  if (text === null) return null
  return new RegExp(`(?:^|[,;\\s])(?:${long}|${short})=(\\d+)`).exec(text)?.[1] ?? null
}

const bounded = (ms: number): number => Math.min(MAX_WAIT_MS, Math.max(0, ms))
