/** Which function answers which operator's endpoint of the background. */
import type { JOB_ENDPOINTS } from '../../contract/endpoints/jobs.ts'
import { listJobs } from '../../core/background/list.ts'
import type { OperatorHandler } from './handlers.ts'

type Handlers = { [N in keyof typeof JOB_ENDPOINTS]: OperatorHandler<N> }

export const JOB_HANDLERS: Handlers = {
  list_jobs: async ({ db }, { query }) => ({ items: await listJobs(db, query) }),
}
