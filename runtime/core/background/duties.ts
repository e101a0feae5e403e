/** DUTIES: who does which kind of background work. */
import { RENEWAL_DUTY } from '../apps/renewal-duty.ts'
import { OFFBOARDING_DUTY } from '../offboarding/duty.ts'
import { POLICY_DUTY } from '../policies/duty.ts'
import { REQUEST_DUTY } from '../requests/duty.ts'
import { RETENTION_DUTY } from '../retention/duty.ts'
import { SYNC_DUTY } from '../sync/duty.ts'
import { UPLOAD_DUTY } from '../uploads/duty.ts'
import { FEED_DUTY } from '../webhooks/feed.ts'
import type { Duty } from './background.ts'
import type { QueueName } from './queues.ts'

export const DUTIES: Record<QueueName, Duty> = {
  'access-requests': REQUEST_DUTY,
  'event-feeds': FEED_DUTY,
  uploads: UPLOAD_DUTY,
  'token-renewals': RENEWAL_DUTY,
  'access-policies': POLICY_DUTY,
  offboardings: OFFBOARDING_DUTY,
  syncs: SYNC_DUTY,
  retention: RETENTION_DUTY,
}
