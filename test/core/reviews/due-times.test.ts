/** When reviewers are reminded, and when a review is checked next. */
import { expect, test } from 'vitest'
import { isReminderDue, nextLook, weekdaysBefore } from '../../../runtime/core/reviews/due-times.ts'

const at = (text: string) => new Date(`${text}:00Z`)
const day = (date: Date) => date.toISOString().slice(0, 10)

test.each([
  // 2027-03-12 is a Friday.
  ['2027-03-12T09:00', 0, '2027-03-12'],
  ['2027-03-12T09:00', 2, '2027-03-10'],
  ['2027-03-12T09:00', 4, '2027-03-08'],
  ['2027-03-15T09:00', 2, '2027-03-11'],
  ['2027-03-14T09:00', 0, '2027-03-12'],
])('%s minus %i weekdays is %s', (moment, days, found) => {
  expect(day(weekdaysBefore(at(moment), days))).toBe(found)
})

const review = (remindedAt: string | null) => ({
  deadlineAt: at('2027-03-12T09:00'),
  startedAt: at('2027-03-01T09:00'),
  remindedAt: remindedAt === null ? null : at(remindedAt),
})

test('each reminder is sent once', () => {
  expect(isReminderDue(review(null), at('2027-03-08T08:59'))).toBe(false)
  expect(isReminderDue(review(null), at('2027-03-08T09:01'))).toBe(true)
  expect(isReminderDue(review('2027-03-08T09:01'), at('2027-03-09T12:00'))).toBe(false)
  expect(isReminderDue(review('2027-03-08T09:01'), at('2027-03-10T09:00'))).toBe(true)
})

test('after the deadline a reminder is sent every day', () => {
  expect(isReminderDue(review('2027-03-12T09:00'), at('2027-03-13T08:59'))).toBe(false)
  expect(isReminderDue(review('2027-03-12T09:00'), at('2027-03-13T09:00'))).toBe(true)
  expect(isReminderDue(review('2027-03-13T09:00'), at('2027-03-14T09:00'))).toBe(true)
})

test('a review is checked next when a reminder is due', () => {
  expect(nextLook(review(null), at('2027-03-01T09:00'))).toEqual(at('2027-03-08T09:00'))
  expect(nextLook(review(null), at('2027-03-10T10:00'))).toEqual(at('2027-03-12T09:00'))
  expect(nextLook(review(null), at('2027-03-20T10:00'))).toEqual(at('2027-03-21T09:00'))
})
