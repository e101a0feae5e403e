/**
 * How work stands: how many access requests are in which state, what of them fails, and the oldest access that has to go; the
 * oldest job that is due; and mail.
 */
import { type SQL, sql } from 'drizzle-orm'
import { MOST_COUNTED, type Readings } from '../../contract/endpoints/metrics.ts'
import { REQUEST_STATUSES } from '../../contract/models/access-request.ts'
import type { Db } from '../../database/database.ts'
import { JOBS_SCHEMA } from '../../database/jobs.ts'
import { DEAD, QUEUE_NAMES } from '../kernel/jobs/queues.ts'
import { mailCounts } from '../mail/operate.ts'
import { standingOf } from '../requests/machine/states.ts'

/** What stands for years is no work of anybody's. */
const OPEN = REQUEST_STATUSES.filter(
  (status) => standingOf(status) !== 'over' && status !== 'COMPLETED',
)

/** Each state is counted from an index, up to a bound. */
export async function requestsByState(db: Db, domainId: string): Promise<Readings> {
  const { rows } = await db.execute<{ state: string; n: string }>(sql`
    select s.state, (select count(*) from (
        select from access_requests where domain_id = ${domainId} and status = s.state
        limit ${MOST_COUNTED}) counted) as n
    from unnest(${textArray(OPEN)}) as s(state)`)
  return {
    keyway_access_requests: rows.map(({ state, n }) => ({ labels: { state }, value: Number(n) })),
  }
}

const TODOS = ['check', 'grant', 'remove'] as const

export async function failingRequests(db: Db): Promise<Readings> {
  const { rows } = await db.execute<{ todo: string; n: string }>(sql`
    select s.todo, (select count(*) from (
        select from access_requests where todo = s.todo and failing_since is not null
        limit ${MOST_COUNTED}) counted) as n
    from unnest(${textArray(TODOS)}) as s(todo)`)
  return {
    keyway_access_requests_failing: rows.map(({ todo, n }) => ({
      labels: { todo },
      value: Number(n),
    })),
  }
}

/** Most rows of a kind that are looked at: those that expired first, and of jobs those that were sent first. */
const MOST_LOOKED_AT = 10_000

/**
 * The oldest access that has to go: what is being removed, what has expired without anybody having begun,
 * and what people were asked to remove.
 */
export async function oldestRemovals(db: Db, domainId: string): Promise<Readings> {
  const since = sql`coalesce(
    least(case when expires_at <= clock_timestamp() then expires_at end, failing_since), updated_at)`
  const { rows } = await db.execute<{ host: string | null; people: string | null }>(sql`
    select
      (select extract(epoch from clock_timestamp() - min(since)) from (
        (select ${since} as since from access_requests where todo = 'remove'
          order by expires_at limit ${MOST_LOOKED_AT})
        union all
        (select expires_at from (
            select expires_at, todo, status from access_requests
            where wake_at is not null and wake_at <= clock_timestamp()
            order by wake_at limit ${MOST_LOOKED_AT}) woken
          where todo is null and status = 'COMPLETED' and expires_at <= clock_timestamp())
      ) removing) as host,
      (select extract(epoch from clock_timestamp() - min(since)) from (
        select ${since} as since from access_requests
        where domain_id = ${domainId} and status = 'PENDING_MANUAL_DEPROVISIONING' and todo is null
        order by created_at limit ${MOST_LOOKED_AT}) asked) as people`)
  const [row] = rows
  const read = (by: 'host' | 'people') => ({
    labels: { by },
    value: Math.max(0, Number(row?.[by] ?? 0)),
  })
  return { keyway_removal_oldest_seconds: [read('host'), read('people')] }
}

const JOB = sql`${sql.identifier(JOBS_SCHEMA)}.job`

/** The oldest job of each queue that should have been begun already; answered from an index of pg-boss. */
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

/** How much mail waits, is put off, and was refused. */
export async function mailsByState(db: Db): Promise<Readings> {
  const { waiting, failing, refused } = await mailCounts(db)
  const values = Object.entries({ waiting, failing, refused })
  return { keyway_mails: values.map(([state, value]) => ({ labels: { state }, value })) }
}

/** Values of a table of ours as an array of PostgreSQL. */
export const textArray = (values: readonly string[]): SQL =>
  sql`array[${sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )}]::text[]`
