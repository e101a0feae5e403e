/** Which function answers which operator's endpoint of the background. */
import type { JOB_ENDPOINTS } from '../../contract/endpoints/jobs.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { listJobs } from '../../core/kernel/jobs/list.ts'
import { DEAD, QUEUE_NAMES } from '../../core/kernel/jobs/queues.ts'
import type { OperatorHandler } from './handler.ts'

type Handlers = { [N in keyof typeof JOB_ENDPOINTS]: OperatorHandler<N> }

export const JOB_HANDLERS: Handlers = {
  list_jobs: async ({ db }, { query }) => {
    const items = await listJobs(db, query)
    if (items.length === 0) demandQueue(query.queue)
    return { items }
  },
}

/** @throws CoreError invalid for a queue that does not exist */
function demandQueue(queue: string | null): void {
  const names: readonly string[] = [...QUEUE_NAMES, DEAD]
  if (queue === null || names.includes(queue)) return
  const msg = `Input should be one of ${names.join(', ')}`
  throw new CoreError('invalid', [{ loc: ['query', 'queue'], msg, type: 'enum' }])
}
