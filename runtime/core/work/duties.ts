/** DUTIES: who does which kind of background work. */
import { REQUEST_DUTY } from '../requests/duty.ts'
import type { QueueName } from './queues.ts'
import type { Duty } from './work.ts'

export const DUTIES: Record<QueueName, Duty> = {
  'access-requests': REQUEST_DUTY,
}
