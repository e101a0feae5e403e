/**
 * Makes a recording stable by replacing the parts that change each time: unique ids, and times close to now.
 */

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
const TIME = /\b(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d)(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)/g

/**
 * Range of the replaced times: those of the last hour come from the system's clock, those of the next day are
 * expiry times.
 */
const PAST_MS = 60 * 60 * 1000
const FUTURE_MS = 24 * PAST_MS

const LONG_AGO = '2026-01-01T00:00:00'
const FAR_OFF = '2099-01-01T00:00:00'

/** Replaces the ids and times of texts. Equal ones get the same replacement. */
type Stable = (text: string) => string

/**
 * Makes a `Stable`.
 * @param nowMs Time of the recording, in milliseconds since the Unix epoch.
 */
export function createStable(nowMs: number): Stable {
  const ids = new Map<string, string>()
  const idOf = (found: string): string => {
    const key = found.toLowerCase()
    const number =
      ids.get(key) ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(key, number)
    return number
  }
  return (text) =>
    text.replace(UUID, idOf).replace(TIME, (found, _day, fraction: string | undefined) => {
      const ms = Date.parse(found) - nowMs
      if (ms < -PAST_MS || ms > FUTURE_MS) return found
      const digits = fraction === undefined ? '' : `.${'0'.repeat(fraction.length - 1)}`
      return `${ms > 0 ? FAR_OFF : LONG_AGO}${digits}Z`
    })
}

/** Replaces a number of a JSON value if it is a time in seconds or milliseconds since the Unix epoch. */
export function stableNumber(value: number, nowMs: number): number {
  for (const unit of [1, 1000]) {
    const ms = value * unit - nowMs
    if (Math.abs(value * unit) < 1e12 || ms < -PAST_MS || ms > FUTURE_MS) continue
    return Date.parse(`${ms > 0 ? FAR_OFF : LONG_AGO}Z`) / unit
  }
  return value
}
