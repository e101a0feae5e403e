/** When what is looked at: a row for each app, and one for each domain. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'

/** How long to wait after a change, in seconds: changes come in crowds, and a transaction may still be under way. */
const AFTER_CHANGE_SECONDS = 5
/** How often things are looked at although nothing changed: time alone makes findings. In hours. */
const EVERY_HOURS = 24
/** Most that are told to be due at once. */
const MAX_DUE = 50

/** What a job looks at. */
export type Look = { kind: 'app' | 'domain'; id: string }

export function parseLook(key: string): Look | null {
  const [kind, id = ''] = key.split(' ')
  return kind === 'app' || kind === 'domain' ? { kind, id } : null
}

/** Keys of what is due: apps and domains that were never looked at, and those whose moment has come. */
export async function dueLooks(db: Db): Promise<string[]> {
  const { rows } = await db.execute<{ key: string }>(sql`
    (select 'app ' || a.id as key from apps a left join finding_looks l on l.subject = a.id
      where l.subject is null or l.wake_at <= clock_timestamp() limit ${MAX_DUE})
    union all
    (select 'domain ' || d.id from domains d left join finding_looks l on l.subject = d.id
      where l.subject is null or l.wake_at <= clock_timestamp() limit ${MAX_DUE})`)
  return rows.map(({ key }) => key)
}

/** Notes that a look begins: what changes from now on is for the next one. */
export async function beginLook(db: Db, { id }: Look, domainId: string): Promise<void> {
  await db.execute(sql`
    insert into finding_looks (subject, domain_id, wake_at, looked_at)
    values (${id}, ${domainId}, clock_timestamp() + make_interval(hours => ${EVERY_HOURS}), clock_timestamp())
    on conflict (subject) do update set wake_at = excluded.wake_at, looked_at = excluded.looked_at`)
}

/** Has an earlier look than planned: at the end of an acceptance. */
export async function wakeBy(db: Db, { id }: Look, at: Date): Promise<void> {
  await db.execute(sql`
    update finding_looks set wake_at = least(wake_at, ${at.toISOString()}::timestamptz) where subject = ${id}`)
}

/**
 * Has an app and its domain looked at soon. A look that is soon anyway is left alone, and what another transaction
 * changes too is left to it: nobody waits here.
 */
export async function accessChanged(
  tx: Db,
  { domainId, appId }: { domainId: string; appId: string | null },
): Promise<void> {
  await wake(tx, sql`subject in (${domainId}, ${appId ?? domainId})`)
}

/** People changed: where they have accounts, and what they hold together. */
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
