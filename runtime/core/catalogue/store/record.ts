/** Log entries for changes in the store of an app. Their targets are the changed object and the app. */
import type { ActivityEvent } from '../../../contract/models/activity-event.ts'
import type { Db } from '../../../database/database.ts'
import type { AppRow } from '../../../database/schema/apps.ts'
import { type Doer, recordActivity, type Target } from '../../kernel/audit/activity.ts'
import { appTarget } from '../apps/apps.ts'

/** Records a change in the store of an app. */
export const recordInStore = (
  tx: Db,
  principal: Doer,
  event: ActivityEvent,
  target: Target,
  app: AppRow,
  metadata: Record<string, unknown> = {},
): Promise<void> => recordActivity(tx, principal, event, [target, appTarget(app)], metadata)
