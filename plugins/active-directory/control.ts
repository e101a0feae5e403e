/**
 * What the numbers of an account mean: pure, without requests.
 *
 * Source: MS-ADTS section 2.2.16 (userAccountControl), MS-ADA1 and MS-ADA3 (accountExpires, lockoutTime,
 * msDS-User-Account-Control-Computed).
 */
import { firstOf, type LdapEntry } from 'keyway/sdk'

const DISABLED = 0x2
const LOCKED = 0x10
/** An ordinary account. */
export const NORMAL = 0x200

/** Attributes that the state of an account is told by. */
export const STATE_ATTRIBUTES = [
  'userAccountControl',
  'msDS-User-Account-Control-Computed',
  'lockoutTime',
  'accountExpires',
]

/** The number of the bits, with the one for disabled set or not; the others stay as they are. */
export function withDisabled(control: string | undefined, disabled: boolean): string {
  const bits = Number(control ?? NORMAL)
  return String(disabled ? bits | DISABLED : bits & ~DISABLED)
}

export const isDisabled = (entry: LdapEntry): boolean =>
  (Number(firstOf(entry, 'userAccountControl') ?? 0) & DISABLED) !== 0

/** Locked for some minutes, after wrong passwords. Where the domain does not compute it, the time of the lock says it. */
export function isLocked(entry: LdapEntry): boolean {
  const computed = firstOf(entry, 'msDS-User-Account-Control-Computed')
  if (computed !== undefined) return (Number(computed) & LOCKED) !== 0
  return Number(firstOf(entry, 'lockoutTime') ?? 0) > 0
}

/** Whether the account ended by its date. */
export function isExpired(entry: LdapEntry, now: number): boolean {
  const end = timeOf(firstOf(entry, 'accountExpires'))
  return end !== null && end <= now
}

/** When an account ends; null for never. */
export const expiryOf = (entry: LdapEntry): string | null =>
  isoOf(timeOf(firstOf(entry, 'accountExpires')))

/** Never: both are written by Windows. */
const NEVER = ['0', '9223372036854775807']
/** What 1 January 1970 is in milliseconds since 1 January 1601, which Windows counts from. */
const EPOCH_MS = 11_644_473_600_000

/** Milliseconds since 1970 of a time in steps of 100 ns; null for none, and for never. */
export function timeOf(filetime: string | undefined): number | null {
  if (filetime === undefined || NEVER.includes(filetime) || !/^\d{1,19}$/.test(filetime))
    return null
  return Number(BigInt(filetime) / 10_000n) - EPOCH_MS
}

/** A time as callers read it. */
export const isoOf = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString().replace(/\.\d{3}Z$/, '+00:00')
