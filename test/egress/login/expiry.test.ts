/** How long a token is cached, by the expiry that its login returns. */

import { expect, test } from 'vitest'
import { capture } from '../../../runtime/egress/login/capture.ts'
import { inTimeZone } from '../../kit/time-zone.ts'

const NOW = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000

const keptFor = (expires: unknown, date: string | null) => {
  const headers: [string, string][] = date === null ? [] : [['date', date]]
  const reply = { status: 200, url: 'https://acme.example/', redirected: false, headers }
  const body = Buffer.from(JSON.stringify({ token: 'a-token', expires }))
  const declared = { capture: { json: '/token' }, expires: { json: '/expires' } } as never
  return capture({ ...reply, body }, declared, NOW, String).goodUntilMs - NOW
}

test.each([
  ['this host is two hours ahead', -2 * HOUR],
  ['this host is two hours behind', 2 * HOUR],
])('an expiry time is read by the clock of the upstream: %s', (_how, offMs) => {
  const theirs = NOW + offMs
  const date = new Date(theirs).toUTCString()
  expect(keptFor(new Date(theirs + HOUR).toISOString(), date)).toBe(HOUR - 60_000)
  expect(keptFor((theirs + HOUR) / 1000, date)).toBe(HOUR - 60_000)
})

test.each([null, 'yesterday', ''])(
  'an expiry time is read by the clock of the host when the reply has the date %j',
  (date) => {
    expect(keptFor(new Date(NOW + HOUR).toISOString(), date)).toBe(HOUR - 60_000)
  },
)

test('an expiry in seconds needs no clock', () => {
  expect(keptFor(3600, new Date(NOW - 2 * HOUR).toUTCString())).toBe(HOUR - 60_000)
})

test.each(['UTC', 'America/New_York', 'Asia/Tokyo'])(
  'an expiry time without a zone is in UTC on a host in %s',
  (zone) => {
    const bare = new Date(NOW + HOUR).toISOString().slice(0, 19)
    expect(inTimeZone(zone, () => keptFor(bare, null))).toBe(HOUR - 60_000)
  },
)
