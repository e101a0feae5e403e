import type { Db } from '../../../database/database.ts'
import type { QueueName } from '../jobs/queues.ts'

/**
 * Says, within a transaction, that something wants to be looked at once the transaction is over. Only a
 * hint: where a job of the key waits or runs already, what it misses is found by `due`.
 */
export type SendJob = (tx: Db, queue: QueueName, key: string) => Promise<void>
