/** The oldest job of each queue that should have been begun already; answered from an index of pg-boss. */
import { sql } from 'drizzle-orm'
import type { Readings } from '../../contract/endpoints/metrics.ts'
import type { Db } from '../../database/database.ts'
import { JOBS_SCHEMA } from '../../database/jobs.ts'
import { DEAD, QUEUE_NAMES } from '../kernel/jobs/queues.ts'
import { textArray } from './arrays.ts'

const JOB = sql`${sql.identifier(JOBS_SCHEMA)}.job`

/** Most jobs of a queue that are looked at: those that were sent first. */
const MOST_LOOKED_AT = 10_000

export async function oldestJobs(db: Db): Promise<Readings> {
  const { rows } = await db.execute<{ queue: string; seconds: string | null }>(sql`
    select q.queue, (
      select extract(epoch from clock_timestamp() - min(start_after)) from (
        select start_after from ${JOB}
        where name = q.queue and state < 'active' and not blocked and start_after <= clock_timestamp()
        order by priority desc, created_on limit ${MOST_LOOKED_AT}) due) as seconds
    from unnest(${textArray([...QUEUE_NAMES, DEAD])}) as q(queue)`)
  return {
    keyway_job_oldest_due_seconds: rows.map(({ queue, seconds }) => ({
      labels: { queue },
      value: Math.max(0, Number(seconds ?? 0)),
    })),
  }
}
