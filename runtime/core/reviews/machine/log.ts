/** Reviews in the activity log. */

import type { ReviewRow } from '../../../database/schema/reviews.ts'
import type { Actor } from '../../kernel/audit/activity.ts'
import { keptText } from '../../kernel/kept-text.ts'
import type { Effect } from '../../machine/effects.ts'

/** What the log says of a review. */
export type NamedReview = Pick<ReviewRow, 'domainId' | 'id' | 'name'>

/** In whose name the host itself acts. */
export const systemOf = ({ domainId }: { domainId: string }): Actor => ({ domainId, userId: null })

/** The effect that records what happened to a review, without `ACCESS_REVIEW_` in front. */
export const recorded = (
  { id, name }: Pick<ReviewRow, 'id' | 'name'>,
  actor: Actor,
  what: string,
  metadata: Record<string, unknown>,
): Extract<Effect, { kind: 'record' }> => ({
  kind: 'record',
  actor,
  event: `ACCESS_REVIEW_${what}`,
  targets: [{ target_type: 'AccessReview', name: keptText(name, 200), id }],
  metadata,
  outcome: 'Succeeded',
})
