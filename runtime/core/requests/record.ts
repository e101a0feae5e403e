/** Logs an event of a request that does not change its state. */
import type { ActivityEvent } from '../../contract/models/activity-event.ts'
import type { Db } from '../../database/database.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import { type ActivityOutcome, type Actor, recordActivity } from '../kernel/audit/activity.ts'
import { recordOf } from './machine/request.ts'

export const recordRequest = (
  tx: Db,
  request: RequestRow,
  event: ActivityEvent,
  metadata: Record<string, unknown>,
  actor: Actor,
  outcome: ActivityOutcome = 'Succeeded',
): Promise<void> => {
  const { targets, metadata: all } = recordOf(request, event, metadata)
  return recordActivity(tx, actor, event, targets, all, outcome)
}
