/** Queues mail: one row per person, once per event. */
import { type SQL, sql } from 'drizzle-orm'
import { MAIL_KINDS, type MailKind } from '../../contract/models/mail.ts'
import type { Db } from '../../database/database.ts'
import { mails } from '../../database/schema/mail.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'
import { AUDIENCES, MAX_RECIPIENTS } from './audience.ts'
import type { MailSubject } from './event-mails.ts'

/** Hour of the day (UTC) at which digests are sent. */
const DIGEST_HOUR = 6

/** SQL expression for the time at which mail of a kind is due. `s` is the row of the person's settings. */
const dueAt = (kind: MailKind): SQL =>
  MAIL_KINDS[kind].digest
    ? sql`case when s.mail = 'DIGEST' then ${NEXT_DIGEST} else clock_timestamp() end`
    : sql`clock_timestamp()`

const HOURS = sql.raw(`interval '${DIGEST_HOUR} hours'`)

/** SQL expression for the next time of a digest. */
const NEXT_DIGEST = sql`(date_trunc('day', clock_timestamp() at time zone 'utc' - ${HOURS})
  + interval '1 day' + ${HOURS}) at time zone 'utc'`

/** Condition that the person `u` can still sign in and wants mail. */
const WANTED = sql`${usersWhoMayAct('u')} and coalesce(s.mail, 'AT_ONCE') <> 'NONE'`

/** Condition on a waiting mail that is not yet part of a message. Its content is read when it is sent. */
const UNTRIED = sql`ended_at is null and message_id is null`

/**
 * Queues the mail of an event.
 *
 * @param occasion Identifies the event.
 */
export async function queueEventMail(
  tx: Db,
  domainId: string,
  { kind, about, knownBy }: MailSubject,
  occasion: string,
): Promise<void> {
  // Mail about ending access is queued by `queueEnding`.
  if (kind === 'ends') return
  if (knownBy !== undefined)
    await tx
      .update(mails)
      .set({ outcome: 'DROPPED', endedAt: sql`clock_timestamp()` })
      .where(sql`user_id = ${knownBy} and kind = ${kind} and about = ${about} and ${UNTRIED}`)
  // A waiting mail about a decision will also report how the request ended.
  await tx.execute(sql`
    insert into mails (domain_id, user_id, kind, about, key, due_at)
    select ${domainId}::uuid, u.id, ${kind}::text, who.about, ${`${occasion} `}::text || who.about, ${dueAt(kind)}
    from (select distinct user_id, about from (${AUDIENCES[kind](about)}) told limit ${MAX_RECIPIENTS}) who
    join users u on u.id = who.user_id and u.domain_id = ${domainId}
    left join personal_settings s on s.user_id = u.id
    where ${WANTED} and u.id is distinct from ${knownBy ?? null}::uuid
      and not (${kind}::text = 'decided' and exists (select from mails m
        where m.user_id = u.id and m.kind = ${kind} and m.about = who.about and ${UNTRIED}))
    on conflict (user_id, key) do nothing`)
}

/**
 * Minimum length of access, in seconds, for a mail about its end. Shorter access is over before a mail would
 * help.
 */
const SHORTEST_SECONDS = 86_400
/** Maximum number of mails queued by one search. */
const MAX_ENDING = 500

/**
 * Queues mail about access that ends soon: when a fifth of its time is left, but at most a week before the
 * end.
 */
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
    order by r.wake_at limit ${MAX_ENDING}
    on conflict (user_id, key) do nothing`)
}
