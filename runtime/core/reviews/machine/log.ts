/** Log entries of reviews. */

import type { ActivityEvent } from '../../../contract/models/activity-event.ts'
import type { ReviewRow } from '../../../database/schema/reviews.ts'
import type { Actor } from '../../kernel/audit/activity.ts'
import { keptText } from '../../kernel/kept-text.ts'
import type { Effect } from '../../machine/effects.ts'

/** Fields of a review that the log needs. */
export type NamedReview = Pick<ReviewRow, 'domainId' | 'id' | 'name'>

/** Returns the host as an actor. */
export const systemOf = ({ domainId }: { domainId: string }): Actor => ({ domainId, userId: null })

/** Event of a review, without `ACCESS_REVIEW_`. */
export type LoggedReviewEvent = {
  [E in ActivityEvent]: E extends `ACCESS_REVIEW_${infer Rest}` ? Rest : never
}[ActivityEvent]

/** Returns the effect that logs an event of a review. */
export const recorded = (
  { id, name }: Pick<ReviewRow, 'id' | 'name'>,
  actor: Actor,
  what: LoggedReviewEvent,
  metadata: Record<string, unknown>,
): Extract<Effect, { kind: 'record' }> => ({
  kind: 'record',
  actor,
  event: `ACCESS_REVIEW_${what}`,
  targets: [{ target_type: 'AccessReview', name: keptText(name, 200), id }],
  metadata,
  outcome: 'Succeeded',
})
