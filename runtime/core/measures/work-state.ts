/**
 * State of the work: access requests by state, failing requests, the oldest access to be removed, the oldest
 * due job of each queue, and mail.
 */
import { type SQL, sql } from 'drizzle-orm'
import { MAX_COUNTED, type Readings } from '../../contract/endpoints/metrics.ts'
import { REQUEST_STATUSES } from '../../contract/models/access-request.ts'
import type { Db } from '../../database/database.ts'
import { JOBS_SCHEMA } from '../../database/jobs.ts'
import { DEAD, QUEUE_NAMES } from '../kernel/jobs/queues.ts'
import { mailCounts } from '../mail/mail-status.ts'
import { standingOf } from '../requests/machine/states.ts'

/** States in which work is left to do. Granted access may last for years and is not included. */
const OPEN = REQUEST_STATUSES.filter(
  (status) => standingOf(status) !== 'over' && status !== 'COMPLETED',
)

/** Counts the requests in each state, from an index, up to a limit. */
export async function requestsByState(db: Db, domainId: string): Promise<Readings> {
  const { rows } = await db.execute<{ state: string; n: string }>(sql`
    select s.state, (select count(*) from (
        select from access_requests where domain_id = ${domainId} and status = s.state
        limit ${MAX_COUNTED}) counted) as n
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
        limit ${MAX_COUNTED}) counted) as n
    from unnest(${textArray(TODOS)}) as s(todo)`)
  return {
    keyway_access_requests_failing: rows.map(({ todo, n }) => ({
      labels: { todo },
      value: Number(n),
    })),
  }
}

/**
 * Maximum number of rows examined for each kind: those that expired first, or the jobs that were sent first.
 */
const MAX_EXAMINED_ROWS = 10_000

/**
 * Returns the age of the oldest access to be removed: access that is being removed, that has expired without
 * a removal having begun, or that people were asked to remove.
 */
export async function oldestRemovals(db: Db, domainId: string): Promise<Readings> {
  const since = sql`coalesce(
    least(case when expires_at <= clock_timestamp() then expires_at end, failing_since), updated_at)`
  const { rows } = await db.execute<{ host: string | null; people: string | null }>(sql`
    select
      (select extract(epoch from clock_timestamp() - min(since)) from (
        (select ${since} as since from access_requests where todo = 'remove'
          order by expires_at limit ${MAX_EXAMINED_ROWS})
        union all
        (select expires_at from (
            select expires_at, todo, status from access_requests
            where wake_at is not null and wake_at <= clock_timestamp()
            order by wake_at limit ${MAX_EXAMINED_ROWS}) woken
          where todo is null and status = 'COMPLETED' and expires_at <= clock_timestamp())
      ) removing) as host,
      (select extract(epoch from clock_timestamp() - min(since)) from (
        select ${since} as since from access_requests
        where domain_id = ${domainId} and status = 'PENDING_MANUAL_DEPROVISIONING' and todo is null
        order by created_at limit ${MAX_EXAMINED_ROWS}) asked) as people`)
  const [row] = rows
  const read = (by: 'host' | 'people') => ({
    labels: { by },
    value: Math.max(0, Number(row?.[by] ?? 0)),
  })
  return { keyway_removal_oldest_seconds: [read('host'), read('people')] }
}

const JOB = sql`${sql.identifier(JOBS_SCHEMA)}.job`

/** Returns the age of the oldest due job of each queue, from an index of pg-boss. */
export async function oldestJobs(db: Db): Promise<Readings> {
  const { rows } = await db.execute<{ queue: string; seconds: string | null }>(sql`
    select q.queue, (
      select extract(epoch from clock_timestamp() - min(start_after)) from (
        select start_after from ${JOB}
        where name = q.queue and state < 'active' and not blocked and start_after <= clock_timestamp()
        order by priority desc, created_on limit ${MAX_EXAMINED_ROWS}) due) as seconds
    from unnest(${textArray([...QUEUE_NAMES, DEAD])}) as q(queue)`)
  return {
    keyway_job_oldest_due_seconds: rows.map(({ queue, seconds }) => ({
      labels: { queue },
      value: Math.max(0, Number(seconds ?? 0)),
    })),
  }
}

/** Counts the mails that are waiting, postponed and refused. */
export async function mailsByState(db: Db): Promise<Readings> {
  const { waiting, failing, refused } = await mailCounts(db)
  const values = Object.entries({ waiting, failing, refused })
  return { keyway_mails: values.map(([state, value]) => ({ labels: { state }, value })) }
}

/** Returns values of one of our tables as a PostgreSQL array. */
export const textArray = (values: readonly string[]): SQL =>
  sql`array[${sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )}]::text[]`
