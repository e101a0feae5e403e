/** What the database tells: each check is by itself, so that one that fails takes no other with it. */
import { sql } from 'drizzle-orm'
import type { DoctorCheck, DoctorFinding } from '../contract/endpoints/doctor.ts'
import { oldestJobs } from '../core/measures/jobs.ts'
import { clockOffsetMs } from '../database/clock.ts'
import type { Db } from '../database/database.ts'
import { JOBS_SCHEMA } from '../database/jobs.ts'
import { rotationOf } from '../lifecycle/rotation.ts'
import { bytesWords, secondsWords } from './sizes.ts'
import { briefly } from './tables.ts'

/** How far a clock may be off, how long a job may be due: as the alert rules have it (scripts/deploy). */
const CLOCK_MS = 2000
const DUE_SECONDS = 900
/** Since when nothing was removed, in seconds, until that is strange: it is done every hour. */
const UNPRUNED_SECONDS = 10_800
/** Most apps that are named. */
const MOST_NAMED = 10

type Asked = { db: Db; keyIds: readonly string[] }
type Found = Omit<DoctorFinding, 'check'>

const good = (what: string): Found => ({ state: 'good', what, advice: null })

const CHECKS: Partial<Record<DoctorCheck, (asked: Asked) => Promise<Found>>> = {
  retention: async ({ db }) => {
    const { rows } = await briefly(db, (tx) =>
      tx.execute<{ seconds: string | null; began: boolean }>(sql`
        select count(*) > 0 as began,
          extract(epoch from clock_timestamp() - max(completed_on) filter (where state = 'completed')) as seconds
        from ${sql.identifier(JOBS_SCHEMA)}.job where name = 'retention'`),
    )
    const { seconds = null, began = false } = rows[0] ?? {}
    if (seconds !== null && Number(seconds) < UNPRUNED_SECONDS)
      return good(`what is not kept any more was removed ${secondsWords(Number(seconds))} ago`)
    if (!began) return good('nothing was removed yet; the first time is within the hour')
    return {
      state: 'act',
      what: `what is not kept any more was ${seconds === null ? 'never removed' : `last removed ${secondsWords(Number(seconds))} ago`}`,
      advice: '`keyway jobs --queue retention` says what fails',
    }
  },
  generations: async ({ db }) => {
    const { rows } = await briefly(db, (tx) =>
      tx.execute<{ generations: number; packages: number; bytes: string }>(sql`
        select (select count(*)::int from generations) as generations,
          count(*)::int as packages, coalesce(sum(octet_length(packed)), 0)::text as bytes from packages`),
    )
    const { generations = 0, packages = 0, bytes = '0' } = rows[0] ?? {}
    return good(
      `${generations} generations, kept for ever; ${packages} packages of the latest 100 of them have ${bytesWords(Number(bytes))}`,
    )
  },
  clock: async ({ db }) => {
    const offsetMs = await clockOffsetMs(db)
    const far = secondsWords(Math.abs(offsetMs) / 1000)
    if (Math.abs(offsetMs) <= CLOCK_MS) return good(`the host’s clock is the database’s to ${far}`)
    return {
      state: 'act',
      what: `the host’s clock is ${far} ${offsetMs > 0 ? 'ahead of' : 'behind'} the database’s`,
      advice: 'let both machines take their time from the network (NTP)',
    }
  },
  rotation: async ({ db, keyIds }) => {
    const { newest, older, needed, page_tokens_until, hosts_behind, safe_to_drop } =
      await rotationOf(db, keyIds)
    if (hosts_behind.length > 0)
      return {
        state: 'act',
        what: `${hosts_behind.length} hosts do not have the newest secret ${newest} first`,
        advice: '`keyway rotation` says which; restart them with the newest secret first',
      }
    const count = Object.values(needed).reduce((sum, one) => sum + one, 0)
    if (safe_to_drop && older.length === 0)
      return good('nothing needs another secret than the newest')
    if (safe_to_drop)
      return {
        state: 'look',
        what: `nothing needs an older secret than ${newest} any more`,
        advice:
          'start the hosts with the newest secret alone; keep the older one for older backups',
      }
    const pages = page_tokens_until === null ? '' : `, page tokens until ${page_tokens_until}`
    // A first secret has page tokens too, and there is no older one to drop.
    if (older.length === 0 && count === 0)
      return good('nothing needs another secret than the newest')
    return {
      state: 'look',
      what: `${count} tokens, sessions and sealed values still need an older secret than ${newest}${pages}`,
      advice: 'do not drop the older one; `keyway rotation` says what needs it',
    }
  },
  apps: async ({ db }) => {
    const { rows } = await briefly(db, (tx) =>
      tx.execute<{ id: string; name: string; since: string; all: number }>(sql`
        select a.id, a.name, to_char(o.since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
          count(*) over ()::int as all
        from app_outages o join apps a on a.id = o.app_id order by o.since, a.id limit ${MOST_NAMED}`),
    )
    if (rows.length === 0) return good('no app is paused')
    const named = rows.map(({ id, name, since }) => `${name} (${id}) since ${since}`)
    const more = (rows[0]?.all ?? 0) - rows.length
    return {
      state: 'look',
      what: `the system does not answer of ${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`,
      advice:
        'repair the system, or connect the app again; `keyway logs --app APP` shows the calls',
    }
  },
  jobs: async ({ db }) => {
    const readings = await briefly(db, oldestJobs)
    const due = [...(readings.keyway_job_oldest_due_seconds ?? [])]
    const [oldest] = due.sort((a, b) => b.value - a.value)
    if (!oldest || oldest.value === 0) return good('no work in the background is overdue')
    const what = `the oldest job that is due is one of ${oldest.labels.queue}, for ${secondsWords(oldest.value)}`
    if (oldest.value <= DUE_SECONDS) return good(what)
    return {
      state: 'act',
      what,
      advice: 'look at `keyway nodes`, at `/readyz` of each host, and at `keyway jobs`',
    }
  },
}

/** What the database tells, check by check. */
export async function examineRecord(asked: Asked): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  for (const [check, examine] of Object.entries(CHECKS) as [DoctorCheck, typeof CHECKS.jobs][]) {
    if (!examine) continue
    findings.push({ check, ...(await examine(asked).catch(unread)) })
  }
  return findings
}

/** A check that could not be made says so. */
export function unread(error: Error): Found {
  const { message } = (error.cause as Error | undefined) ?? error
  return {
    state: 'look',
    what: `could not be looked at: ${message.slice(0, 300)}`,
    advice: 'try again; `/readyz` says whether the host waits for something',
  }
}
