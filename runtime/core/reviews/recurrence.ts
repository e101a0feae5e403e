/**
 * Recurrence of reviews: the rules of RFC 5545 that reviews need, with the numbers of the public service.
 * Pure. Days are UTC days, which clock changes do not affect, unless a rule names a time zone: then days and
 * times are local.
 */
import type { RecurrenceConfig } from '../../contract/models/access-review.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'

const DAY_MS = 24 * 3600 * 1000
const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY'] as const
/** Horizon of the search for an occurrence, in days. Long enough to find a leap day. */
const HORIZON_DAYS = 366 * 12
/** Members of a rule that are not supported. */
const UNKNOWN: (keyof RecurrenceConfig)[] = [
  'byyearday',
  'byweekno',
  'bysetpos',
  'byhour',
  'byminute',
  'bysecond',
  'wkst',
]

/** Recurrence of a review: by a rule or by a number of days. */
export type Recurrence = { config: RecurrenceConfig | null; days: number | null }

/** Returns why a recurrence is invalid, or null if it is valid. */
export function recurrenceFault({ config, days }: Recurrence): string | null {
  if (config !== null && days !== null)
    return 'Give one of recurrence_config and recurrence_days_frequency'
  if (days !== null && (days < 1 || days > 3660))
    return 'recurrence_days_frequency is a number of days from 1 to 3660'
  return config === null ? null : ruleFault(config)
}

function ruleFault(config: RecurrenceConfig): string | null {
  if (FREQUENCIES[config.freq] === undefined)
    return 'recurrence_config.freq is 0 (yearly), 1 (monthly), 2 (weekly) or 3 (daily)'
  const odd = UNKNOWN.find((name) => {
    const value = config[name] ?? null
    return Array.isArray(value) ? value.length > 0 : value !== null && value !== 0
  })
  if (odd !== undefined) return `recurrence_config.${odd} is not supported`
  const between = (name: string, values: readonly number[], least: number, most: number) =>
    values.every((one) => one !== 0 || least === 0) &&
    values.every((one) => Math.abs(one) <= most && (least >= 0 ? one >= least : true))
      ? null
      : `recurrence_config.${name} has a number out of its range`
  const positions = (config.byweekday ?? []).flatMap((one) =>
    typeof one === 'number' ? [] : [one],
  )
  if (positions.length > 0 && config.freq !== 1)
    return 'recurrence_config.byweekday has positions (n) only where freq is 1, monthly'
  return (
    zoneFault(config) ??
    between('interval', [config.interval ?? 1], 1, 1000) ??
    between('count', [config.count ?? 1], 1, 1000) ??
    between('bymonth', config.bymonth ?? [], 1, 12) ??
    between('bymonthday', config.bymonthday ?? [], -31, 31) ??
    between('byweekday', weekdaysOf(config), 0, 6) ??
    between(
      'byweekday',
      positions.map(({ n }) => n),
      -5,
      5,
    ) ??
    (config.until && parseDatetime(config.until) === null
      ? 'recurrence_config.until is not a date and time'
      : null)
  )
}

/** Zones must be named by region: an offset or abbreviation does not define when clocks change. */
function zoneFault({ tzid }: RecurrenceConfig): string | null {
  const fault = 'recurrence_config.tzid is not a time zone such as Europe/Berlin'
  if (!tzid) return null
  if (!/^(UTC|[A-Z][A-Za-z_-]+(\/[A-Z][A-Za-z0-9_+-]+){1,2})$/.test(tzid)) return fault
  try {
    new Intl.DateTimeFormat('en', { timeZone: tzid })
    return null
  } catch {
    return fault
  }
}

const weekdaysOf = ({ byweekday }: RecurrenceConfig): number[] =>
  (byweekday ?? []).map((one) => (typeof one === 'number' ? one : one.weekday))

/** Returns the first occurrence after a time, or null. The very first occurrence is at `start`. */
export function nextOccurrence(
  { config, days }: Recurrence,
  start: Date,
  after: Date,
): Date | null {
  if (days !== null) {
    const passed = Math.max(0, Math.floor((after.getTime() - start.getTime()) / (days * DAY_MS)))
    return new Date(start.getTime() + (passed + 1) * days * DAY_MS)
  }
  if (config === null) return null
  const until = config.until ? parseDatetime(config.until) : null
  const clock = clockOf(config.tzid ?? null)
  const first = clock.shown(start)
  const last = Math.max(clock.shown(after).getTime(), first.getTime()) + HORIZON_DAYS * DAY_MS
  let met = 0
  for (let at = first.getTime(); at <= last; at += DAY_MS) {
    const day = new Date(at)
    const isFirst = at === first.getTime()
    // The start counts as the first occurrence even if the rule does not include its day.
    if (!isFirst && !isDay(config, first, day)) continue
    // Only for matching days: converting a zone's time is expensive.
    const moment = isFirst ? start : clock.moment(day)
    met += 1
    if (until !== null && moment > until) return null
    if (config.count && met > config.count) return null
    if (moment > after && !isFirst) return moment
  }
  return null
}

/** Clock of a time zone. `shown` converts a time to local time, encoded as if UTC; `moment` converts back. */
type Clock = { shown(moment: Date): Date; moment(shown: Date): Date }

/**
 * Returns the clock of a zone. An ambiguous local time means its first occurrence. A skipped one is
 * interpreted with the offset before the gap (RFC 5545 section 3.3.5).
 */
function clockOf(zone: string | null): Clock {
  if (zone === null) return { shown: (moment) => moment, moment: (shown) => shown }
  const on = (at: Date, from: string) =>
    Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(from).toPlainDateTime()
  const there = (shown: Temporal.PlainDateTime, to: string) =>
    new Date(shown.toZonedDateTime(to, { disambiguation: 'compatible' }).epochMilliseconds)
  return {
    shown: (moment) => there(on(moment, zone), 'UTC'),
    moment: (shown) => there(on(shown, 'UTC'), zone),
  }
}

const dayNumber = (at: Date): number => Math.floor(at.getTime() / DAY_MS)
const monthNumber = (at: Date): number => at.getUTCFullYear() * 12 + at.getUTCMonth()
/** Returns the weekday, 0 for Monday. */
const weekday = (at: Date): number => (at.getUTCDay() + 6) % 7
const daysInMonth = (at: Date): number =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()

/** Number of periods between two days, by frequency. */
const PERIODS: readonly ((start: Date, day: Date) => number)[] = [
  (start, day) => day.getUTCFullYear() - start.getUTCFullYear(),
  (start, day) => monthNumber(day) - monthNumber(start),
  (start, day) => (dayNumber(day) - weekday(day) - (dayNumber(start) - weekday(start))) / 7,
  (start, day) => dayNumber(day) - dayNumber(start),
]

function isDay(config: RecurrenceConfig, start: Date, day: Date): boolean {
  const { freq, interval, bymonth, bymonthday, byweekday } = config
  if ((PERIODS[freq]?.(start, day) ?? 1) % (interval ?? 1) !== 0) return false
  const date = day.getUTCDate()
  const month = day.getUTCMonth() + 1
  const hasDays = Boolean(bymonthday?.length || byweekday?.length)
  if (bymonth?.length && !bymonth.includes(month)) return false
  if (freq === 0 && !bymonth?.length && !hasDays && month !== start.getUTCMonth() + 1) return false
  if (freq <= 1 && !hasDays && date !== start.getUTCDate()) return false
  if (freq === 2 && !hasDays && weekday(day) !== weekday(start)) return false
  if (
    bymonthday?.length &&
    !bymonthday.some((one) => one === date || date - daysInMonth(day) - 1 === one)
  )
    return false
  return !byweekday?.length || byweekday.some((one) => isWeekday(one, day))
}

function isWeekday(one: number | { weekday: number; n: number }, day: Date): boolean {
  if (typeof one === 'number') return weekday(day) === one
  if (weekday(day) !== one.weekday) return false
  const date = day.getUTCDate()
  return one.n > 0
    ? Math.ceil(date / 7) === one.n
    : Math.ceil((daysInMonth(day) - date + 1) / 7) === -one.n
}

/** Returns the day of a time as shown by a clock in a zone: `2027-03-28`. */
export const dayIn = (moment: Date, zone: string | null): string =>
  clockOf(zone).shown(moment).toISOString().slice(0, 10)
