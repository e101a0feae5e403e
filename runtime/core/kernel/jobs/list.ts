/** Background jobs, as their tables record them. */

import { sql } from 'drizzle-orm'
import type { JobRecord } from '../../../contract/endpoints/jobs.ts'
import { membersOf } from '../../../contract/schema/record.ts'
import type { Db } from '../../../database/database.ts'
import { JOBS_SCHEMA } from '../../../database/jobs.ts'
import { keptText } from '../kept-text.ts'

type Filter = { queue: string | null; state: string | null; limit: number }

type Row = {
  id: string
  name: string
  singleton_key: string | null
  data: { queue?: string; key?: string } | null
  state: JobRecord['state']
  retry_count: number
  created_on: string
  started_on: string | null
  completed_on: string | null
  start_after: string
  output: unknown
}

const jobs = sql.raw(`${JOBS_SCHEMA}.job`)

/** Reads the newest jobs of all hosts. */
export async function listJobs(db: Db, { queue, state, limit }: Filter): Promise<JobRecord[]> {
  const { rows } = await db.execute<Row>(sql`
    select id, name, singleton_key, data, state, retry_count, created_on, started_on, completed_on,
      start_after, output
    from ${jobs}
    where (${queue}::text is null or name = ${queue}) and (${state}::text is null or state::text = ${state})
    order by created_on desc, id limit ${limit}`)
  return rows.map((row) => ({
    id: row.id,
    queue: row.name,
    key: row.data?.key ?? row.singleton_key ?? '',
    state: row.state,
    tries: row.retry_count,
    created_at: iso(row.created_on),
    started_at: row.started_on && iso(row.started_on),
    ended_at: row.completed_on && iso(row.completed_on),
    next_try_at: row.state === 'created' || row.state === 'retry' ? iso(row.start_after) : null,
    problem: jobProblem(row.output),
  }))
}

const iso = (moment: string): string => new Date(moment).toISOString()

/** Returns the message of the error that a job threw, as pg-boss stores it. */
export function jobProblem(output: unknown): string | null {
  const message = membersOf(output)['message']
  return typeof message === 'string' ? keptText(message, 1000) : null
}
