/** Texts that pages derive from data. */
import { expect, test } from 'vitest'
import { initials, parseMoment } from '../../../runtime/http/frame/words.ts'

test.each([
  ['Hana Patel', 'HP'],
  ['ada@example.com', 'AE'],
  ['🚀 Łukasz', 'Ł'],
  ['', '?'],
  ['\u202eabc', '?'],
])('%j has the initials %s', (name, letters) => expect(initials(name)).toBe(letters))

test('a moment without a zone is UTC', () => {
  expect(parseMoment('2026-11-23T07:00:00').toISOString()).toBe('2026-11-23T07:00:00.000Z')
  expect(parseMoment('2026-11-23T07:00:00+01:00').toISOString()).toBe('2026-11-23T06:00:00.000Z')
})
