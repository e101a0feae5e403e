/** What operators read of the background: jobs that wait, run, and have ended in the last week. */
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

export const JobRecord = strictObject('JobRecord', 'A job in the background', {
  id: v.string(),
  queue: described(v.string(), 'What kind of work'),
  key: described(v.string(), 'What it looks at'),
  state: described(
    v.picklist(JOB_STATES),
    'created: waits. retry: failed, and waits for its next try. active: some host does it',
  ),
  tries: described(v.number(), 'How often it was started again after a failure'),
  created_at: moment,
  started_at: moment,
  ended_at: moment,
  next_try_at: v.nullable(described(v.string(), 'Of one that waits: when it may begin')),
  problem: v.nullable(described(v.string(), 'What failed last')),
})
export type JobRecord = v.InferOutput<typeof JobRecord>

export const JOB_ENDPOINTS = {
  list_jobs: row.get('/jobs', {
    summary:
      'List the jobs of all hosts in the background, newest first; those that are kept (KEYWAY_RETENTION)',
    query: {
      queue: text().describe('Only this kind of work'),
      state: oneOf(JOB_STATES).describe('Only those in this state'),
      limit: int({ min: 1, max: 1000, default: 50 }).describe('Jobs per answer'),
    },
    output: v.strictObject({ items: v.array(JobRecord) }),
    followed: true,
    errors: [422, 429],
  }),
} as const
