/** Schedule of looks: one row for each app and one for each domain. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'

/** Delay after a change, in seconds: changes come in bursts, and a transaction may still be open. */
const AFTER_CHANGE_SECONDS = 5
/** Interval of looks without a change, in hours: findings can arise through time alone. */
const EVERY_HOURS = 24
/** Maximum number of due looks of each kind returned at once. */
const MAX_DUE = 50

/** Subject of a look. */
export type Look = { kind: 'app' | 'domain'; id: string }

export function parseLook(key: string): Look | null {
  const [kind, id = ''] = key.split(' ')
  return kind === 'app' || kind === 'domain' ? { kind, id } : null
}

/** Returns the keys of the due looks: subjects never looked at, and those whose time has come. */
export async function dueLooks(db: Db): Promise<string[]> {
  const { rows } = await db.execute<{ key: string }>(sql`
    (select 'app ' || a.id as key from apps a left join finding_looks l on l.subject = a.id
      where l.subject is null or l.wake_at <= clock_timestamp() limit ${MAX_DUE})
    union all
    (select 'domain ' || d.id from domains d left join finding_looks l on l.subject = d.id
      where l.subject is null or l.wake_at <= clock_timestamp() limit ${MAX_DUE})`)
  return rows.map(({ key }) => key)
}

/** Records that a look begins. Changes after this are left to the next look. */
export async function beginLook(db: Db, { id }: Look, domainId: string): Promise<void> {
  await db.execute(sql`
    insert into finding_looks (subject, domain_id, wake_at, looked_at)
    values (${id}, ${domainId}, clock_timestamp() + make_interval(hours => ${EVERY_HOURS}), clock_timestamp())
    on conflict (subject) do update set wake_at = excluded.wake_at, looked_at = excluded.looked_at`)
}

/** Moves the next look forward to a given time, such as the end of an acceptance. */
export async function wakeBy(db: Db, { id }: Look, at: Date): Promise<void> {
  await db.execute(sql`
    update finding_looks set wake_at = least(wake_at, ${at.toISOString()}::timestamptz) where subject = ${id}`)
}

/**
 * Schedules an early look at an app and its domain. A look that is due soon keeps its time. Rows that another
 * transaction has locked are skipped, so this never waits: that transaction schedules the look itself.
 */
export async function accessChanged(
  tx: Db,
  { domainId, appId }: { domainId: string; appId: string | null },
): Promise<void> {
  await wake(tx, sql`subject in (${domainId}, ${appId ?? domainId})`)
}

/** Schedules an early look at the domain, and at the apps in which the changed people have accounts. */
export async function peopleChanged(
  tx: Db,
  domainId: string,
  userIds: readonly string[] | 'all',
): Promise<void> {
  if (userIds.length === 0) return
  const all = sql`domain_id = ${domainId}`
  if (userIds === 'all') return wake(tx, all)
  await wake(
    tx,
    sql`${all} and (subject = ${domainId} or subject in (
      select app_id from accounts where user_id = any(${sql.param([...userIds])}::uuid[])))`,
  )
}

async function wake(tx: Db, which: ReturnType<typeof sql>): Promise<void> {
  await tx.execute(sql`
    update finding_looks set wake_at = soon.at
    from (select subject, clock_timestamp() + make_interval(secs => ${AFTER_CHANGE_SECONDS}) as at
      from finding_looks where ${which}
        and wake_at > clock_timestamp() + make_interval(secs => ${AFTER_CHANGE_SECONDS})
      for update skip locked) soon
    where finding_looks.subject = soon.subject`)
}
