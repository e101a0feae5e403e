/** Putting mail into the queue: one row for each person, once for each event. */
import { type SQL, sql } from 'drizzle-orm'
import { MAIL_KINDS, type MailKind } from '../../contract/models/mail.ts'
import type { Db } from '../../database/database.ts'
import { mails } from '../../database/schema/mail.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'
import { AUDIENCES, MOST_TOLD } from './audience.ts'
import type { MailSubject } from './told.ts'

/** The hour of the day (UTC) at which digests are sent. */
const DIGEST_HOUR = 6

/** When mail of a kind is due, by what `s`, the person's settings, say. */
const dueAt = (kind: MailKind): SQL =>
  MAIL_KINDS[kind].digest
    ? sql`case when s.mail = 'DIGEST' then ${NEXT_DIGEST} else clock_timestamp() end`
    : sql`clock_timestamp()`

const HOURS = sql.raw(`interval '${DIGEST_HOUR} hours'`)

/** The next one that has not come. */
const NEXT_DIGEST = sql`(date_trunc('day', clock_timestamp() at time zone 'utc' - ${HOURS})
  + interval '1 day' + ${HOURS}) at time zone 'utc'`

/** People of `u` who can still sign in, and who want mail. */
const WANTED = sql`${usersWhoMayAct('u')} and coalesce(s.mail, 'AT_ONCE') <> 'NONE'`

/** A mail that waits and was not tried: it says what is true when it is sent. */
const UNTRIED = sql`ended_at is null and message_id is null`

/** Puts the mail of an event into the queue. @param occasion What makes the event one. */
export async function queueTold(
  tx: Db,
  domainId: string,
  { kind, about, knownBy }: MailSubject,
  occasion: string,
): Promise<void> {
  // Access that ends is found by `queueEnding`.
  if (kind === 'ends') return
  if (knownBy !== undefined)
    await tx
      .update(mails)
      .set({ outcome: 'DROPPED', endedAt: sql`clock_timestamp()` })
      .where(sql`user_id = ${knownBy} and kind = ${kind} and about = ${about} and ${UNTRIED}`)
  // A decision that waits to be told says how the request ended, too.
  await tx.execute(sql`
    insert into mails (domain_id, user_id, kind, about, key, due_at)
    select ${domainId}::uuid, u.id, ${kind}::text, who.about, ${`${occasion} `}::text || who.about, ${dueAt(kind)}
    from (select distinct user_id, about from (${AUDIENCES[kind](about)}) told limit ${MOST_TOLD}) who
    join users u on u.id = who.user_id and u.domain_id = ${domainId}
    left join personal_settings s on s.user_id = u.id
    where ${WANTED} and u.id is distinct from ${knownBy ?? null}::uuid
      and not (${kind}::text = 'decided' and exists (select from mails m
        where m.user_id = u.id and m.kind = ${kind} and m.about = who.about and ${UNTRIED}))
    on conflict (user_id, key) do nothing`)
}

/** Access of less than this is over before a mail would help, in seconds. */
const SHORTEST_SECONDS = 86_400
/** Most that one look finds. */
const MOST_ENDING = 500

/** Puts mail about access that ends soon into the queue: when a fifth of its time is left, a week at most. */
export async function queueEnding(tx: Db, domainId: string): Promise<void> {
  const key = sql`'ends ' || r.id || ' ' || extract(epoch from r.expires_at)::bigint`
  await tx.execute(sql`
    insert into mails (domain_id, user_id, kind, about, key, due_at)
    select r.domain_id, u.id, 'ends', r.id::text, ${key}, ${dueAt('ends')}
    from access_requests r
    join users u on u.id = r.target_user_id
    left join personal_settings s on s.user_id = u.id
    where r.domain_id = ${domainId} and r.status = 'COMPLETED'
      and r.wake_at is not null and r.wake_at <= clock_timestamp() + interval '7 days'
      and r.expires_at > clock_timestamp() and r.expiration_in_seconds >= ${SHORTEST_SECONDS}
      and r.expires_at <= clock_timestamp()
        + least(interval '7 days', r.expiration_in_seconds / 5 * interval '1 second')
      and not exists (select from mails m where m.user_id = u.id and m.key = ${key})
      and ${WANTED}
    order by r.wake_at limit ${MOST_ENDING}
    on conflict (user_id, key) do nothing`)
}
