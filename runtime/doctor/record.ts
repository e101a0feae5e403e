/** Checks of the database. Each runs separately, so that one that fails does not affect the others. */

import { sql } from 'drizzle-orm'
import type { DoctorCheck, DoctorFinding } from '../contract/endpoints/doctor.ts'
import { entriesOf } from '../contract/schema/keys.ts'
import { connectionsOf } from '../core/kernel/deployment/connection-budget.ts'
import { mailCounts } from '../core/mail/mail-status.ts'
import { inShortTransaction } from '../core/measures/measures.ts'
import { oldestJobs } from '../core/measures/work-state.ts'
import { clockOffsetMs } from '../database/clock.ts'
import type { Db } from '../database/database.ts'
import { JOBS_SCHEMA } from '../database/jobs.ts'
import { rotationOf } from '../rotation/rotation.ts'
import { actOn, type Examined, good, look, unread } from './found.ts'
import { formatBytes, formatSeconds } from './sizes.ts'

/**
 * Maximum clock offset in milliseconds, and maximum delay of a job in seconds. The alert rules
 * (scripts/deploy) have the same values.
 */
const CLOCK_MS = 2000
const DUE_SECONDS = 900
/** Age of the last retention run that counts as a failure, in seconds. Retention runs every hour. */
const UNPRUNED_SECONDS = 10_800
/** Maximum number of apps listed in a finding. */
const MAX_NAMED = 10

type Asked = { db: Db; keyIds: readonly string[] }

const CHECKS: Partial<Record<DoctorCheck, (asked: Asked) => Promise<Examined>>> = {
  retention: async ({ db }) => {
    const { rows } = await inShortTransaction(db, (tx) =>
      tx.execute<{ seconds: string | null; began: boolean }>(sql`
        select count(*) > 0 as began,
          extract(epoch from clock_timestamp() - max(completed_on) filter (where state = 'completed')) as seconds
        from ${sql.identifier(JOBS_SCHEMA)}.job where name = 'retention'`),
    )
    const { seconds = null, began = false } = rows[0] ?? {}
    if (seconds !== null && Number(seconds) < UNPRUNED_SECONDS)
      return good(`expired rows were removed ${formatSeconds(Number(seconds))} ago`)
    if (!began) return good('retention has not run yet; the first run is within the hour')
    return {
      state: 'act',
      what: `expired rows were ${seconds === null ? 'never removed' : `last removed ${formatSeconds(Number(seconds))} ago`}`,
      advice: '`keyway jobs --queue retention` shows the errors',
    }
  },
  generations: async ({ db }) => {
    const { rows } = await inShortTransaction(db, (tx) =>
      tx.execute<{ generations: number; packages: number; bytes: string }>(sql`
        select (select count(*)::int from generations) as generations,
          count(*)::int as packages, coalesce(sum(octet_length(packed)), 0)::text as bytes from packages`),
    )
    const { generations = 0, packages = 0, bytes = '0' } = rows[0] ?? {}
    return good(
      `${generations} generations, kept forever; ${packages} packages of the latest 100 generations take ${formatBytes(Number(bytes))}`,
    )
  },
  connections: async ({ db }) => {
    const { enough, what, advice } = await inShortTransaction(db, (tx) => connectionsOf(tx))
    return enough ? good(what) : actOn(what, advice)
  },
  clock: async ({ db }) => {
    const offsetMs = await clockOffsetMs(db)
    const far = formatSeconds(Math.abs(offsetMs) / 1000)
    if (Math.abs(offsetMs) <= CLOCK_MS)
      return good(`the host’s clock is within ${far} of the database’s`)
    return actOn(
      `the host’s clock is ${far} ${offsetMs > 0 ? 'ahead of' : 'behind'} the database’s`,
      'synchronize both machines by NTP',
    )
  },
  rotation: async ({ db, keyIds }) => {
    const { newest, older, needed, page_tokens_until, hosts_behind, safe_to_drop } =
      await rotationOf(db, keyIds)
    if (hosts_behind.length > 0)
      return actOn(
        `${hosts_behind.length} hosts do not list the newest secret ${newest} first`,
        '`keyway rotation` lists them; restart them with the newest secret first',
      )
    const count = Object.values(needed).reduce((sum, one) => sum + one, 0)
    if (safe_to_drop && older.length === 0) return good('nothing depends on an older secret')
    if (safe_to_drop)
      return look(
        `nothing depends on a secret older than ${newest}`,
        'start the hosts with only the newest secret; keep the older one for older backups',
      )
    const pages = page_tokens_until === null ? '' : `, page tokens until ${page_tokens_until}`
    // A first secret has page tokens too, but there is no older one to drop.
    if (older.length === 0 && count === 0) return good('nothing depends on an older secret')
    return look(
      `${count} tokens, sessions and sealed values still depend on a secret older than ${newest}${pages}`,
      'do not drop the older one; `keyway rotation` shows what depends on it',
    )
  },
  apps: async ({ db }) => {
    const { rows } = await inShortTransaction(db, (tx) =>
      tx.execute<{ id: string; name: string; since: string; all: number }>(sql`
        select a.id, a.name, to_char(o.since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
          count(*) over ()::int as all
        from app_outages o join apps a on a.id = o.app_id order by o.since, a.id limit ${MAX_NAMED}`),
    )
    if (rows.length === 0) return good('no app is paused')
    const named = rows.map(({ id, name, since }) => `${name} (${id}) since ${since}`)
    const more = (rows[0]?.all ?? 0) - rows.length
    return {
      state: 'look',
      what: `paused because the system does not answer: ${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`,
      advice: 'repair the system or reconnect the app; `keyway logs --app APP` shows the calls',
    }
  },
  jobs: async ({ db }) => {
    const readings = await inShortTransaction(db, oldestJobs)
    const due = [...(readings.keyway_job_oldest_due_seconds ?? [])]
    const [oldest] = due.sort((a, b) => b.value - a.value)
    if (!oldest || oldest.value === 0) return good('no background job is overdue')
    const what = `the oldest due job is in queue ${oldest.labels.queue}, overdue by ${formatSeconds(oldest.value)}`
    if (oldest.value <= DUE_SECONDS) return good(what)
    return actOn(what, 'check `keyway nodes`, `/readyz` of each host, and `keyway jobs`')
  },
  mail: async ({ db }) => {
    const { waiting, failing, refused, problem } = await inShortTransaction(db, mailCounts)
    const advice = '`keyway mail show` shows the server’s answer'
    if (failing > 0)
      return actOn(
        `the mail server deferred ${failing} mails: ${problem ?? 'it gave no reason'}`,
        advice,
      )
    if (refused > 0) return look(`the mail server refused ${refused} mails within a day`, advice)
    return good(waiting === 0 ? 'no mail waits' : `${waiting} mails are due`)
  },
}

/** Runs the checks. */
export async function examineRecord(asked: Asked): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  for (const [check, examine] of entriesOf(CHECKS)) {
    if (!examine) continue
    findings.push({ check, ...(await examine(asked).catch(unread)) })
  }
  return findings
}
