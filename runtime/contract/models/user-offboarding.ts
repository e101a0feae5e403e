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
  v.metadata({ description: 'When it is to run, UTC where no zone is named; absent: now' }),
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
  'A user who leaves',
  offboarding,
)
export type UserOffboardingOutput = v.InferInput<typeof UserOffboardingOutput>

const count = (description: string) =>
  v.pipe(v.number(), v.safeInteger(), v.metadata({ description }))

export const OffboardingProgress = strictObject(
  'OffboardingProgress',
  'A user who leaves, and how far it is',
  {
    ...offboarding,
    problem: nullable(described(v.string(), 'Why it failed')),
    accounts: v.strictObject({
      all: count('Accounts that are to be made unusable, as far as it has looked'),
      done: count('Those that are: the system was read, or a person said so where it cannot be'),
      by_hand: count('Those for which a person has a task'),
      left: count('Those that stay, because a person decided so'),
    }),
  },
)
export type OffboardingProgress = v.InferInput<typeof OffboardingProgress>
