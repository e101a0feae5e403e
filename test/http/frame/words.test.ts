/** Words that pages make of data. */
import { expect, test } from 'vitest'
import { accessLength, initials, lengthOf, momentOf } from '../../../runtime/http/frame/words.ts'

const HOUR = 3600
const DAY = 24 * HOUR

test.each([
  [20, '1 minute'],
  [119 * 60, '119 minutes'],
  [2 * HOUR, '2 hours'],
  [47 * HOUR, '47 hours'],
  [2 * DAY, '2 days'],
  [400 * DAY, '400 days'],
])('%i seconds are %s', (seconds, words) => expect(lengthOf(seconds)).toBe(words))

test.each([
  [null, 'without an end'],
  [8 * HOUR, 'for 8 hours'],
  [DAY, 'for 1 day'],
  [30 * DAY, 'for 30 days'],
  [90, 'for 2 minutes'],
])('access for %s seconds is %s', (seconds, words) => expect(accessLength(seconds)).toBe(words))

test.each([
  ['Hana Patel', 'HP'],
  ['ada@example.com', 'AE'],
  ['🚀 Łukasz', 'Ł'],
  ['', '?'],
  ['\u202eabc', '?'],
])('%j has the letters %s', (name, letters) => expect(initials(name)).toBe(letters))

test('a moment without a zone is UTC', () => {
  expect(momentOf('2026-11-23T07:00:00').toISOString()).toBe('2026-11-23T07:00:00.000Z')
  expect(momentOf('2026-11-23T07:00:00+01:00').toISOString()).toBe('2026-11-23T06:00:00.000Z')
})
