/** A row of the activity log in the form sent to webhooks of type SIEM (core-interface.md section 1.17). */

import type { LogRow } from '../../database/schema/audit.ts'
import { displayNameOf } from '../kernel/audit/activity.ts'

type Told = Pick<
  LogRow,
  'eventType' | 'outcome' | 'actor' | 'targets' | 'metadata' | 'beganAt' | 'eventHash'
>

/** Returns `{ event }`, in the format of the public service. */
export function eventBody(row: Told): Record<string, unknown> {
  const { actor_type, ...actor_data } = row.actor
  return {
    event: {
      actor: { actor_type, actor_data },
      // The format has microseconds and no zone. The clock that wrote the row has milliseconds.
      event_began_at: row.beganAt.toISOString().replace('Z', '000'),
      event_hash: row.eventHash,
      event_metadata: row.metadata,
      event_type: row.eventType,
      event_type_user_friendly: displayNameOf(row.eventType),
      outcome: row.outcome,
      targets: row.targets.map(({ target_type, ...target_data }) => ({ target_type, target_data })),
    },
  }
}
