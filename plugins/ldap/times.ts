/** Times of a directory, and what they say of an account. Pure, without requests. */
import { firstOf, type LdapEntry } from 'keyway/sdk'

/** From when on, and until when, OpenLDAP lets an account in, whatever its password policy says (slapo-ppolicy(5)). */
export const VALID = { from: 'pwdStartTime', until: 'pwdEndTime' } as const

/** GeneralizedTime (RFC 4517 section 3.3.13), in UTC as directories note it: `20260131235959.123456Z`. */
const TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(?:[.,]\d+)?Z$/

/** A time as callers read it; null for what is none. */
export function timeOf(text: string): string | null {
  const [, year, month, day, hours, minutes, seconds = '00'] = TIME.exec(text) ?? []
  return year === undefined ? null : `${year}-${month}-${day}T${hours}:${minutes}:${seconds}+00:00`
}

/** Whether an account has ended by its date. */
export const isOver = (entry: LdapEntry, now: Date): boolean => {
  const until = timeOf(firstOf(entry, VALID.until) ?? '')
  return until !== null && until <= textOf(now)
}

/** Whether an account has not begun yet. */
export const isToCome = (entry: LdapEntry, now: Date): boolean => {
  const from = timeOf(firstOf(entry, VALID.from) ?? '')
  return from !== null && from > textOf(now)
}

/** In the form of `timeOf`, in which later times are larger texts. */
const textOf = (now: Date): string => now.toISOString().replace(/\.\d{3}Z$/, '+00:00')
