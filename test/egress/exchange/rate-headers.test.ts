import { expect, test } from 'vitest'
import { askedWaitMs, isRefusal } from '../../../runtime/egress/exchange/rate-headers.ts'
import { inTimeZone } from '../../kit/time-zone.ts'

const NOW = Date.UTC(2026, 0, 1)
const inSeconds = (seconds: number) => String(NOW / 1000 + seconds)
const noneLeft = { 'X-RateLimit-Remaining': '0' }
const resetAt = (seconds: number) => ({ 'X-RateLimit-Reset': inSeconds(seconds) })
/** The clock of an upstream, two hours behind. */
const anotherIn = (seconds: number) => new Date(NOW - 7_200_000 + seconds * 1000).toUTCString()
const ofAnother = { Date: anotherIn(0) }

test.each<[string, number, Record<string, string>, number]>([
  ['Retry-After in seconds', 429, { 'Retry-After': '7' }, 7000],
  ['Retry-After as a date', 503, { 'Retry-After': new Date(NOW + 5000).toUTCString() }, 5000],
  ['a Retry-After in the past', 429, { 'Retry-After': new Date(NOW - 5000).toUTCString() }, 0],
  ['an invalid Retry-After', 429, { 'Retry-After': 'soon' }, 0],
  ['Retry-After of a year', 429, { 'Retry-After': '31536000' }, 3_600_000],
  ['Retry-After of a success', 200, { 'Retry-After': '7' }, 0],
  [
    'the three headers of the drafts',
    200,
    { 'RateLimit-Remaining': '0', 'RateLimit-Reset': '4' },
    4000,
  ],
  ['a remaining request', 200, { 'RateLimit-Remaining': '3', 'RateLimit-Reset': '4' }, 0],
  ['one header of an earlier draft', 200, { RateLimit: 'limit=20, remaining=0, reset=3' }, 3000],
  ['one header of the last draft', 200, { RateLimit: '"default";r=0;t=9' }, 9000],
  ['GitHub', 403, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': inSeconds(30) }, 30_000],
  ['Okta', 429, { 'X-Rate-Limit-Remaining': '0', 'X-Rate-Limit-Reset': inSeconds(2) }, 2000],
  ['a reset without a number', 429, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': 'x' }, 0],
  [
    'a Retry-After date by a clock that is wrong',
    429,
    { ...ofAnother, 'Retry-After': anotherIn(5) },
    5000,
  ],
  [
    'a reset time by a clock that is wrong',
    200,
    { ...ofAnother, ...noneLeft, ...resetAt(-7193) },
    7000,
  ],
  ['a reset in milliseconds', 200, { ...noneLeft, 'X-RateLimit-Reset': `${NOW + 5000}` }, 5000],
  [
    'a reset in the year 9999',
    200,
    { ...noneLeft, 'X-RateLimit-Reset': '253402300799' },
    3_600_000,
  ],
  [
    'a reset of infinite length',
    200,
    { ...noneLeft, 'X-RateLimit-Reset': '9'.repeat(400) },
    3_600_000,
  ],
  ['a negative wait', 429, { 'Retry-After': '-5' }, 0],
  ['no headers', 429, {}, 0],
])('reads %s', (_what, status, headers, ms) => {
  expect(askedWaitMs(status, Object.entries(headers), NOW)).toBe(ms)
})

test.each<[number, Record<string, string>, boolean]>([
  [429, {}, true],
  [503, {}, true],
  [403, { 'X-RateLimit-Remaining': '0' }, true],
  [403, { 'Retry-After': '60' }, true],
  [403, {}, false],
  [403, { 'X-RateLimit-Remaining': '10' }, false],
  [200, { 'X-RateLimit-Remaining': '0' }, false],
])('status %i with %j refuses for the rate: %s', (status, headers, refuses) => {
  expect(isRefusal(status, Object.entries(headers))).toBe(refuses)
})

test.each(['UTC', 'America/New_York', 'Asia/Tokyo'])(
  'a Retry-After without a zone is in UTC on a host in %s',
  (zone) => {
    const bare = new Date(NOW + 5000).toISOString().slice(0, 19)
    expect(inTimeZone(zone, () => askedWaitMs(429, [['Retry-After', bare]], NOW))).toBe(5000)
  },
)
