/** When a page warns that access ends soon. */
import { expect, test } from 'vitest'
import { endingSoon, type Held } from '../../../runtime/http/pages/held.ts'

const DAY_S = 86_400
const NOW = new Date('2026-03-01T12:00:00Z')

const held = (lastsS: number | null, leftS: number): Held => ({
  ...{ title: 'Design', place: 'Studio', why: '', leaving: null, giveBack: null, extend: null },
  ...{ isFound: false, seconds: lastsS },
  endsAt: new Date(NOW.getTime() + leftS * 1000),
})

test.each([
  ['a year, with eight days left', 365 * DAY_S, 8 * DAY_S, false],
  ['a year, with six days left', 365 * DAY_S, 6 * DAY_S, true],
  ['ten days, with three days left', 10 * DAY_S, 3 * DAY_S, false],
  ['ten days, with one day left', 10 * DAY_S, DAY_S, true],
  ['an hour, with half of it left', 3600, 1800, true],
  ['an unknown length, with a day left', null, DAY_S, false],
])('a page warns of the end of access for %s (%s s, %s s left): %s', (_, lastsS, leftS, isSoon) => {
  const one = held(lastsS, leftS)
  expect(endingSoon([one], NOW)).toBe(isSoon ? one : null)
})
