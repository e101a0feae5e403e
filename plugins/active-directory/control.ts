/**
 * Decodes the numeric attributes of an account. Makes no requests.
 *
 * Source: MS-ADTS section 2.2.16 (userAccountControl), MS-ADA1 and MS-ADA3 (accountExpires, lockoutTime,
 * msDS-User-Account-Control-Computed).
 */
import { firstOf, type LdapEntry } from 'keyway/sdk'

const DISABLED = 0x2
const LOCKED = 0x10
/** `userAccountControl` of an ordinary account. */
export const NORMAL = 0x200

/** Attributes that determine the state of an account. */
export const STATE_ATTRIBUTES = [
  'userAccountControl',
  'msDS-User-Account-Control-Computed',
  'lockoutTime',
  'accountExpires',
]

/** Returns `userAccountControl` with the disabled bit set or cleared. All other bits are kept. */
export function withDisabled(control: string | undefined, disabled: boolean): string {
  const bits = Number(control ?? NORMAL)
  return String(disabled ? bits | DISABLED : bits & ~DISABLED)
}

export const isDisabled = (entry: LdapEntry): boolean =>
  (Number(firstOf(entry, 'userAccountControl') ?? 0) & DISABLED) !== 0

/**
 * Reports whether the account is temporarily locked after wrong passwords. If the domain does not compute
 * this, it is derived from `lockoutTime`.
 */
export function isLocked(entry: LdapEntry): boolean {
  const computed = firstOf(entry, 'msDS-User-Account-Control-Computed')
  if (computed !== undefined) return (Number(computed) & LOCKED) !== 0
  return Number(firstOf(entry, 'lockoutTime') ?? 0) > 0
}

/** Reports whether the account has expired. */
export function isExpired(entry: LdapEntry, now: number): boolean {
  const end = timeOf(firstOf(entry, 'accountExpires'))
  return end !== null && end <= now
}

/** Returns the expiry time of an account, or null if it never expires. */
export const expiryOf = (entry: LdapEntry): string | null =>
  isoOf(timeOf(firstOf(entry, 'accountExpires')))

/** Values that mean never. Windows writes both. */
const NEVER = ['0', '9223372036854775807']
/** Milliseconds from 1 January 1601, the epoch of Windows, to 1 January 1970. */
const EPOCH_MS = 11_644_473_600_000

/**
 * Converts a FILETIME (units of 100 ns since 1601) to milliseconds since 1970. Returns null for a missing
 * value and for never.
 */
export function timeOf(filetime: string | undefined): number | null {
  if (filetime === undefined || NEVER.includes(filetime) || !/^\d{1,19}$/.test(filetime))
    return null
  return Number(BigInt(filetime) / 10_000n) - EPOCH_MS
}

/** Formats a time for callers. */
export const isoOf = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString().replace(/\.\d{3}Z$/, '+00:00')
