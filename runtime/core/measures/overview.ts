/** The state of a domain's records, for its operator: each value is one bounded query. */
import { sql } from 'drizzle-orm'
import { MAX_COUNTED } from '../../contract/endpoints/metrics.ts'
import type { Attention, Overview, Turn } from '../../contract/endpoints/overview.ts'
import { ATTENTION } from '../../contract/endpoints/overview.ts'
import { REQUEST_STATUSES } from '../../contract/models/access-request.ts'
import type { Db } from '../../database/database.ts'
import { ACTIONABLE_STATES } from '../../database/schema/tasks.ts'
import { statesThatAre } from '../requests/machine/states.ts'
import { textArray } from './work-state.ts'

/** Maximum number of rows of each kind. */
const MAX_ROWS = 50
/** Time, in days, for which a request is listed whose access was not removed and on which nobody works. */
const LATELY_DAYS = 7
/** Maximum number of people and groups with tasks. */
const MAX_TURNS = 20

const OVER: readonly string[] = statesThatAre('over')
const OPEN = REQUEST_STATUSES.filter((one) => one !== 'COMPLETED' && !OVER.includes(one))

const iso = (moment: string | Date | null): string | null =>
  moment === null ? null : new Date(moment).toISOString()

type TroubleRow = {
  kind: 'sync_stopped' | 'sync_failed' | 'app_away' | 'removal_failed'
  id: string
  name: string
  detail: string | null
  since: string | null
}

/** Returns problems of apps, and of access that should have been removed. */
export async function troubles(db: Db, domainId: string): Promise<Attention[]> {
  const { rows } = await db.execute<TroubleRow>(sql`
    (select case when run.state = 'STOPPED' then 'sync_stopped' else 'sync_failed' end as kind,
        a.id, a.name, run.problem as detail, run.ended_at as since
      from apps a cross join lateral (
        select state, problem, ended_at from sync_runs where app_id = a.id order by id desc limit 1) run
      where a.domain_id = ${domainId} and a.sync_status = 'FAILED' and a.disconnected_at is null
        and run.state in ('STOPPED', 'FAILED')
      order by run.ended_at limit ${MAX_ROWS})
    union all
    (select 'app_away', a.id, a.name, o.problem, o.since from app_outages o
      join apps a on a.id = o.app_id where o.domain_id = ${domainId} order by o.since limit ${MAX_ROWS})
    union all
    (select 'removal_failed', r.id, a.name, u.email, r.updated_at from access_requests r
      join apps a on a.id = r.app_id join users u on u.id = r.target_user_id
      where r.domain_id = ${domainId} and r.status = 'TIME_BASED_EXPIRED_FAILED'
        and (r.updated_at > now() - make_interval(days => ${LATELY_DAYS}) or r.todo is not null)
      order by r.created_at limit ${MAX_ROWS})`)
  return rows.map(({ kind, id, name, detail, since }) => ({
    ...{ kind, level: ATTENTION[kind].level, id, name, detail, since: iso(since) },
  }))
}

type TurnRow = Omit<Turn, 'tasks' | 'oldest_at'> & { tasks: string; oldest_at: string }

/** Returns the people and groups with open tasks, those with the most first. */
export async function turns(db: Db, domainId: string): Promise<Turn[]> {
  const { rows } = await db.execute<TurnRow>(sql`
    select x.user_id, x.group_id, count(*) as tasks, min(t.created_at) as oldest_at,
      coalesce(max(g.name), nullif(trim(max(u.given_name) || ' ' || max(u.family_name)), ''), max(u.email), '') as name
    from tasks t join task_assignees x on x.task_id = t.id
      left join users u on u.id = x.user_id left join groups g on g.id = x.group_id
    where t.domain_id = ${domainId} and t.status in (${ACTIONABLE_STATES})
    group by x.user_id, x.group_id order by count(*) desc, min(t.created_at) limit ${MAX_TURNS}`)
  return rows.map(({ tasks, oldest_at, ...row }) => ({
    ...{ ...row, tasks: Number(tasks), oldest_at: new Date(oldest_at).toISOString() },
  }))
}

type CountRow = {
  open: number
  oldest: string | null
  ending: number
  connected: number
  troubled: number
}

export async function counts(
  db: Db,
  domainId: string,
): Promise<Pick<Overview, 'requests' | 'apps'>> {
  const open = textArray(OPEN)
  const { rows } = await db.execute<CountRow>(sql`
    select
      (select count(*)::int from (select from access_requests
        where domain_id = ${domainId} and status = any(${open}) limit ${MAX_COUNTED}) o) as open,
      (select min(created_at) from access_requests
        where domain_id = ${domainId} and status = any(${open})) as oldest,
      (select count(*)::int from (select from access_requests
        where domain_id = ${domainId} and status = 'COMPLETED' and expires_at < now() + interval '7 days'
        limit ${MAX_COUNTED}) e) as ending,
      (select count(*)::int from apps where domain_id = ${domainId}
        and sealed_connection is not null and disconnected_at is null) as connected,
      (select count(*)::int from apps where domain_id = ${domainId}
        and sync_status = 'FAILED' and disconnected_at is null) as troubled`)
  const row = rows[0] ?? { open: 0, oldest: null, ending: 0, connected: 0, troubled: 0 }
  return {
    requests: { open: row.open, oldest_at: iso(row.oldest), ending: row.ending },
    apps: { connected: row.connected, troubled: row.troubled },
  }
}
