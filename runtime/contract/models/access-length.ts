/** Durations of access: the values of `time_based_access` and `access_length`, in one table. */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { listOf } from './reference.ts'

const HOUR = 3600
const DAY = 24 * HOUR

/** Value on the wire -> seconds; null for unlimited (core-interface.md section 1.17). */
export const ACCESS_LENGTHS = {
  '2 hours': 2 * HOUR,
  '4 hours': 4 * HOUR,
  '8 hours': 8 * HOUR,
  '12 hours': 12 * HOUR,
  '1 day': DAY,
  '2 days': 2 * DAY,
  '3 days': 3 * DAY,
  '7 days': 7 * DAY,
  '14 days': 14 * DAY,
  '30 days': 30 * DAY,
  '90 days': 90 * DAY,
  Unlimited: null,
} as const satisfies Record<string, number | null>

export type AccessLength = keyof typeof ACCESS_LENGTHS

export const AccessLength = v.pipe(
  v.picklist(keysOf(ACCESS_LENGTHS)),
  v.metadata({ title: 'AccessLength', description: 'How long access may last' }),
)

/** Returns the schema of a list of durations to choose from. The order is kept. */
export const timeBasedAccess = () => listOf(AccessLength)
