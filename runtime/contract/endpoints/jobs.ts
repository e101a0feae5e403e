/** Background jobs for operators: waiting, running, and ended in the last week. */
import * as v from 'valibot'
import { described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'
import { int, oneOf, text } from './params.ts'

export const JOB_STATES = [
  'created',
  'retry',
  'active',
  'completed',
  'cancelled',
  'failed',
] as const

const moment = v.nullable(described(v.string(), 'ISO 8601, UTC'))

export const JobRecord = strictObject('JobRecord', 'A background job', {
  id: v.string(),
  queue: described(v.string(), 'Kind of work'),
  key: described(v.string(), 'Subject of the job'),
  state: described(
    v.picklist(JOB_STATES),
    'created: waiting. retry: failed, and waiting for its next attempt. active: running on a host',
  ),
  tries: described(v.number(), 'Number of restarts after a failure'),
  created_at: moment,
  started_at: moment,
  ended_at: moment,
  next_try_at: v.nullable(described(v.string(), 'For a waiting job, the earliest start')),
  problem: v.nullable(described(v.string(), 'The last failure')),
})
export type JobRecord = v.InferOutput<typeof JobRecord>

export const JOB_ENDPOINTS = {
  list_jobs: row.get('/jobs', {
    summary:
      'List the background jobs of all hosts that are still kept (KEYWAY_RETENTION), newest first',
    query: {
      queue: text().describe('Only this kind of work'),
      state: oneOf(JOB_STATES).describe('Only jobs in this state'),
      limit: int({ min: 1, max: 1000, default: 50 }).describe('Jobs per response'),
    },
    output: v.strictObject({ items: v.array(JobRecord) }),
    followed: true,
    errors: [422, 429],
  }),
} as const
