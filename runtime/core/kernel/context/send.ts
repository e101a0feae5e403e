import type { Db } from '../../../database/database.ts'
import type { QueueName } from '../jobs/queues.ts'

/**
 * Queues, within a transaction, a look at a key after the commit. It is only a hint: if a job of the key is
 * already waiting or running, `due` finds anything that this job misses.
 */
export type SendJob = (tx: Db, queue: QueueName, key: string) => Promise<void>
