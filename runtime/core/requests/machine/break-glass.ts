/** Break-glass: access that is granted at once and reviewed afterwards, even if it has ended by then. */
import { REQUEST_STATUSES } from '../../../contract/models/access-request.ts'
import type { TransitionTable } from './events.ts'
import { GRANTING } from './granting.ts'
import { recordOf } from './request.ts'
import { REVOKING } from './revoking.ts'

const GIVEN = 'Break-glass: access was given at once and is reviewed afterwards'
const INSTRUCTIONS =
  'This access was given at once, without a decision. Find out what it was used for and give that as the reason. Approve it if the use was justified, otherwise deny it. Access that still exists is then revoked.'

export const GLASS: TransitionTable<'glass_broken' | 'glass_reviewed'> = {
  glass_broken: {
    in: ['PENDING'],
    next(request, { by, reviewers, route, instructions }, now) {
      const approved = { kind: 'approved', preapproved: GIVEN, decision: null } as const
      const given = GRANTING.approved.next(request, { ...approved, route, instructions }, now)
      const said = { expiration_in_seconds: request.expirationInSeconds }
      return {
        writes: given.writes,
        effects: [
          recordOf(request, 'BREAK_GLASS_TAKEN', said, by),
          { kind: 'open_task', task: 'glass', assignees: reviewers, instructions: INSTRUCTIONS },
          ...given.effects,
        ],
      }
    },
  },

  glass_reviewed: {
    in: REQUEST_STATUSES,
    next(request, { by, wasRight, reason }, now) {
      const said = { was_right: wasRight, reason }
      const reviewed = recordOf(request, 'BREAK_GLASS_REVIEWED', said, by)
      if (wasRight || !REVOKING.reason_gone.in.includes(request.status))
        return { writes: [], effects: [reviewed] }
      const why = 'The review found that this use of break-glass access was not justified'
      const { writes, effects } = REVOKING.reason_gone.next(
        request,
        { kind: 'reason_gone', why },
        now,
      )
      return { writes, effects: [reviewed, ...effects] }
    },
  },
}

/** Facts needed before break-glass access is granted. */
type GlassFacts = {
  isMember: boolean
  /** Whether the permission still exists in the app, and the app is connected. */
  isThere: boolean
  /** Whether the person has already taken it and it has not ended. */
  isTaken: boolean
  maxMinutes: number
  minutes: number
}

/** Refusal of break-glass access, with a text for the person. */
export type GlassRefusal = { kind: 'forbidden' | 'conflict' | 'invalid'; words: string }

/** Returns the refusal of break-glass access, or null if it is granted. Pure. */
export function glassRefusal(facts: GlassFacts): GlassRefusal | null {
  const { isMember, isThere, isTaken, minutes, maxMinutes } = facts
  if (!isMember)
    return {
      kind: 'forbidden',
      words: 'Only members of certain groups can have this, and you are in none of them',
    }
  if (!isThere)
    return { kind: 'conflict', words: 'It is no longer in the app, or the app is disconnected' }
  if (isTaken)
    return {
      kind: 'conflict',
      words: 'You already have it; take it again after it has ended',
    }
  if (minutes > maxMinutes)
    return { kind: 'invalid', words: `here it can be at most ${maxMinutes}` }
  return null
}
