/** Delegates: who decides on requests in the place of an approver who is away. Ours. */
import * as v from 'valibot'
import { described, maybe, nullable, strictObject, utcMoment } from '../schema/schemas.ts'
import { User } from './person.ts'

/** The longest time for which a delegate may be named, in days. */
export const MAX_DELEGATION_DAYS = 366

/** Longest reason of a delegation, in characters. */
export const MAX_DELEGATION_REASON = 500

export const DelegationInput = strictObject('DelegationInput', {
  delegate_id: described(v.string(), 'Who decides instead'),
  user_id: maybe(described(v.string(), 'Whose decisions; the caller’s own unless an admin says')),
  since: maybe(described(v.string(), 'From when on; absent, or a moment that is over: now')),
  until: described(v.string(), `Until when; at most ${MAX_DELEGATION_DAYS} days later`),
  reason: maybe(v.pipe(v.string(), v.maxLength(MAX_DELEGATION_REASON))),
})
export type DelegationInput = v.InferOutput<typeof DelegationInput>

export const Delegation = strictObject(
  'Delegation',
  'A person who decides on requests in the place of another, for a time',
  {
    id: v.string(),
    user: nullable(described(User, 'Who is away')),
    delegate: nullable(described(User, 'Who decides instead')),
    since: utcMoment,
    until: utcMoment,
    reason: v.string(),
    ended_at: nullable(described(v.string(), 'When it was taken back')),
    active: described(v.boolean(), 'Whether it counts now'),
    created_at: utcMoment,
  },
)
export type Delegation = v.InferInput<typeof Delegation>
