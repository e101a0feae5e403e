/** Offboarding of users (core-interface.md section 1.16). */
import * as v from 'valibot'
import { parseDatetime } from '../schema/datetime.ts'
import { described, maybe, nullable, strictObject, utcMoment } from '../schema/schemas.ts'

export const OFFBOARDING_STATUSES = [
  'SCHEDULED',
  'IN_PROGRESS',
  'DIVERTED',
  'CANCELLED',
  'FAILED',
  'EXPIRED',
  'COMPLETED',
] as const
export type OffboardingStatus = (typeof OFFBOARDING_STATUSES)[number]

const dateTime = v.pipe(
  v.string(),
  v.check((text) => parseDatetime(text) !== null, 'a date and time such as 2030-01-31T18:00:00Z'),
  v.metadata({ description: 'Scheduled time, UTC if it has no zone; absent: now' }),
)

export const UserOffboardingInput = strictObject('UserOffboardingInput', {
  user_id: v.string(),
  scheduled_at: maybe(dateTime),
})
export type UserOffboardingInput = v.InferOutput<typeof UserOffboardingInput>

const offboarding = {
  id: v.string(),
  user_id: v.string(),
  status: v.picklist(OFFBOARDING_STATUSES),
  scheduled_at: nullable(utcMoment),
  created_at: utcMoment,
  cancelled_at: nullable(utcMoment),
  completed_at: nullable(utcMoment),
}

export const UserOffboardingOutput = strictObject(
  'UserOffboardingOutput',
  'The offboarding of a user',
  offboarding,
)
export type UserOffboardingOutput = v.InferInput<typeof UserOffboardingOutput>

const count = (description: string) =>
  v.pipe(v.number(), v.safeInteger(), v.metadata({ description }))

export const OffboardingProgress = strictObject(
  'OffboardingProgress',
  'The offboarding of a user, with its progress',
  {
    ...offboarding,
    problem: nullable(described(v.string(), 'Why it failed')),
    accounts: v.strictObject({
      all: count('Accounts to be made unusable, as found so far'),
      done: count(
        'Accounts that are unusable: read from the system, or confirmed by a person if it cannot be read',
      ),
      by_hand: count('Accounts for which a person has a task'),
      left: count('Accounts that are kept because a person decided so'),
    }),
  },
)
export type OffboardingProgress = v.InferInput<typeof OffboardingProgress>
