/** Due times of a review: launch, reminders, deadline. Pure. Days are UTC days. */
import type { ReviewRow } from '../../database/schema/reviews.ts'

const DAY_MS = 24 * 3600 * 1000
/** Number of weekdays before the deadline on which reviewers are reminded. */
const WEEKDAYS_BEFORE = [4, 2, 0]

const isWeekday = (at: Date): boolean => at.getUTCDay() !== 0 && at.getUTCDay() !== 6

/** Returns the time that is a number of weekdays before another, at the same time of day. */
export function weekdaysBefore(at: Date, days: number): Date {
  let left = days
  let day = at
  while (left > 0 || !isWeekday(day)) {
    day = new Date(day.getTime() - DAY_MS)
    if (isWeekday(day)) left -= 1
    if (left <= 0 && isWeekday(day)) return day
  }
  return day
}

/** Returns the reminders of a deadline: some weekdays before, and each day after it while lines are open. */
function remindersAround(deadline: Date, now: Date): Date[] {
  const before = WEEKDAYS_BEFORE.map((days) => weekdaysBefore(deadline, days))
  const passed = Math.floor((now.getTime() - deadline.getTime()) / DAY_MS)
  const after = [passed, passed + 1]
    .filter((n) => n >= 1)
    .map((n) => new Date(deadline.getTime() + n * DAY_MS))
  return [...before, ...after]
}

type Timed = Pick<ReviewRow, 'deadlineAt' | 'remindedAt' | 'startedAt'>

/** Reports whether a reminder is due that has not been sent. */
export function isReminderDue({ deadlineAt, remindedAt, startedAt }: Timed, now: Date): boolean {
  const since = remindedAt ?? startedAt ?? now
  return remindersAround(deadlineAt, now).some((at) => at > since && at <= now)
}

/** Returns the next time to examine a review on which people decide. */
export function nextLook({ deadlineAt }: Timed, now: Date): Date {
  const moments = [...remindersAround(deadlineAt, now), deadlineAt].filter((at) => at > now)
  return moments.length > 0
    ? new Date(Math.min(...moments.map((at) => at.getTime())))
    : new Date(now.getTime() + DAY_MS)
}
