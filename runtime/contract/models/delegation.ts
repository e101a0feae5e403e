/** Delegates, who decide on requests in place of an absent approver. Keyway's own. */
import * as v from 'valibot'
import { described, maybe, nullable, strictObject, utcMoment } from '../schema/schemas.ts'
import { User } from './person.ts'

/** Longest delegation, in days. */
export const MAX_DELEGATION_DAYS = 366

/** Maximum length of a delegation's reason, in characters. */
export const MAX_DELEGATION_REASON = 500

export const DelegationInput = strictObject('DelegationInput', {
  delegate_id: described(v.string(), 'User who decides instead'),
  user_id: maybe(
    described(v.string(), 'User whose decisions are delegated; only admins may name another user'),
  ),
  since: maybe(described(v.string(), 'Start; absent, or a time in the past: now')),
  until: described(v.string(), `End; at most ${MAX_DELEGATION_DAYS} days later`),
  reason: maybe(v.pipe(v.string(), v.maxLength(MAX_DELEGATION_REASON))),
})
export type DelegationInput = v.InferOutput<typeof DelegationInput>

export const Delegation = strictObject(
  'Delegation',
  'A person who decides on requests in place of another, for a period of time',
  {
    id: v.string(),
    user: nullable(described(User, 'User who is absent')),
    delegate: nullable(described(User, 'User who decides instead')),
    since: utcMoment,
    until: utcMoment,
    reason: v.string(),
    ended_at: nullable(described(v.string(), 'Time at which it was ended early')),
    active: described(v.boolean(), 'Whether it is in effect now'),
    created_at: utcMoment,
  },
)
export type Delegation = v.InferInput<typeof Delegation>
