/** Times of a directory and the account state that follows from them. Makes no requests. */
import { firstOf, type LdapEntry } from 'keyway/sdk'

/**
 * Attributes with the start and end of an account's validity in OpenLDAP. They apply regardless of its
 * password policy (slapo-ppolicy(5)).
 */
export const VALID = { from: 'pwdStartTime', until: 'pwdEndTime' } as const

/**
 * GeneralizedTime (RFC 4517 section 3.3.13): `20260131235959.123456Z`. Minutes and seconds may be missing. A
 * fraction belongs to the last part, and an offset from UTC may replace the `Z`.
 */
const TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(?:(\d\d)(\d\d)?)?(?:[.,](\d+))?(?:Z|([+-])(\d\d)(\d\d)?)$/

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Returns a time in milliseconds since 1970. Returns null if the text is not a time. */
function momentMs(text: string): number | null {
  const found = TIME.exec(text)
  if (found === null) return null
  const [, year, month, day, hours, minutes, seconds, digits = '0', sign, ahead, aheadMinutes] =
    found
  const [h, m, s] = [Number(hours), Number(minutes ?? 0), Number(seconds ?? 0)]
  const wholeMs = Date.UTC(Number(year), Number(month) - 1, Number(day), h, m, s)
  const partMs = seconds === undefined ? (minutes === undefined ? HOUR_MS : MINUTE_MS) : SECOND_MS
  const offsetMs = Number(ahead ?? 0) * HOUR_MS + Number(aheadMinutes ?? 0) * MINUTE_MS
  return wholeMs + Number(`0.${digits}`) * partMs + (sign === '-' ? offsetMs : -offsetMs)
}

/** Formats a time for callers, in UTC and whole seconds. Returns null if the text is not a time. */
export function timeOf(text: string): string | null {
  const atMs = momentMs(text)
  return atMs === null ? null : new Date(atMs).toISOString().replace(/\.\d{3}Z$/, '+00:00')
}

/** Reports whether an account has expired. */
export const isOver = (entry: LdapEntry, now: Date): boolean => {
  const untilMs = momentMs(firstOf(entry, VALID.until) ?? '')
  return untilMs !== null && untilMs <= now.getTime()
}

/** Reports whether an account is not valid yet. */
export const isToCome = (entry: LdapEntry, now: Date): boolean => {
  const fromMs = momentMs(firstOf(entry, VALID.from) ?? '')
  return fromMs !== null && fromMs > now.getTime()
}
