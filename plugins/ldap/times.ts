/** Times of a directory and the account state that follows from them. Makes no requests. */
import { firstOf, type LdapEntry } from 'keyway/sdk'

/**
 * Attributes with the start and end of an account's validity in OpenLDAP. They apply regardless of its
 * password policy (slapo-ppolicy(5)).
 */
export const VALID = { from: 'pwdStartTime', until: 'pwdEndTime' } as const

/** GeneralizedTime (RFC 4517 section 3.3.13), in UTC as directories record it: `20260131235959.123456Z`. */
const TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(?:[.,]\d+)?Z$/

/** Formats a time for callers. Returns null if the text is not a time. */
export function timeOf(text: string): string | null {
  const [, year, month, day, hours, minutes, seconds = '00'] = TIME.exec(text) ?? []
  return year === undefined ? null : `${year}-${month}-${day}T${hours}:${minutes}:${seconds}+00:00`
}

/** Reports whether an account has expired. */
export const isOver = (entry: LdapEntry, now: Date): boolean => {
  const until = timeOf(firstOf(entry, VALID.until) ?? '')
  return until !== null && until <= textOf(now)
}

/** Reports whether an account is not valid yet. */
export const isToCome = (entry: LdapEntry, now: Date): boolean => {
  const from = timeOf(firstOf(entry, VALID.from) ?? '')
  return from !== null && from > textOf(now)
}

/** Formats a date like `timeOf`, so that later times compare as larger texts. */
const textOf = (now: Date): string => now.toISOString().replace(/\.\d{3}Z$/, '+00:00')
