/** The state of mail for operators, and test messages. */
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { MailStatus, MailTested } from '../../contract/endpoints/mail.ts'
import { conflict, invalidAt } from '../../contract/errors/problem.ts'
import type { MailKind } from '../../contract/models/mail.ts'
import type { Db } from '../../database/database.ts'
import type { Language } from '../../words/languages.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'
import type { Post } from '../kernel/context/post.ts'
import { addressRefusal } from './address.ts'
import { compose } from './compose.ts'
import { messageIdOf } from './send.ts'

/** Maximum number of rows that are counted. */
const MAX_COUNTED = 10_000
const MAX_SHOWN = 20

type Counts = { waiting: number; failing: number; refused: number; problem: string | null }

/** Counts the mails that are due, were postponed, or were refused within the last day. */
export async function mailCounts(db: Db): Promise<Counts> {
  const { rows } = await db.execute<Counts>(sql`
    select
      (select count(*)::int from (select from mails
        where ended_at is null and due_at <= clock_timestamp() limit ${MAX_COUNTED}) one) as waiting,
      (select count(*)::int from (select from mails
        where ended_at is null and attempts > 0 limit ${MAX_COUNTED}) one) as failing,
      (select count(*)::int from (select from mails where ended_at > clock_timestamp() - interval '1 day'
        and outcome = 'REFUSED' limit ${MAX_COUNTED}) one) as refused,
      (select problem from mails where ended_at is null and attempts > 0 and problem is not null
        order by due_at desc limit 1) as problem`)
  return rows[0] ?? { waiting: 0, failing: 0, refused: 0, problem: null }
}

export async function mailStatus(db: Db, post: Post | null): Promise<MailStatus> {
  const { waiting, failing, problem } = await mailCounts(db)
  const { rows } = await db.execute<{
    at: string
    email: string
    kind: MailKind
    problem: string | null
  }>(sql`
    select m.ended_at as at, u.email, m.kind, m.problem from mails m join users u on u.id = m.user_id
    where m.ended_at > clock_timestamp() - interval '7 days' and m.outcome = 'REFUSED'
    order by m.ended_at desc, m.id limit ${MAX_SHOWN}`)
  const refused = rows.map((row) => ({
    ...{ at: new Date(row.at).toISOString(), email: row.email, kind: row.kind },
    problem: row.problem ?? '',
  }))
  return {
    ...{ server: post?.server ?? null, from: post?.from ?? null },
    ...{ waiting, failing, problem, refused },
  }
}

/**
 * Sends one message now, bypassing the queue.
 *
 * @throws CoreError `conflict` if no mail server is configured, `invalid` if the text is not a mail address
 */
export async function sendTestMail(
  db: Db,
  actor: Actor,
  post: Post | null,
  { email, language }: { email: string; language: Language },
): Promise<MailTested> {
  if (!post) throw conflict('No mail server is set: set KEYWAY_MAIL_SERVER and restart the host')
  const refusal = addressRefusal(email, post.from)
  if (refusal !== null) throw invalidAt(['body', 'email'], refusal)
  const messageId = messageIdOf(randomUUID(), post)
  const nothing = { thing: null, app: null, by: null, target: null, revoker: null, note: null }
  const matter = { ...nothing, seconds: null, until: null, count: null, now: new Date() }
  const around = { to: email, name: email, language, origin: post.origin, messageId }
  const startedMs = performance.now()
  const posted = await post.send(compose([{ text: 'test', matter, path: '/' }], around))
  const ms = Math.round(performance.now() - startedMs)
  await db.transaction((tx) =>
    recordActivity(
      tx,
      actor,
      'MAIL_TESTED',
      [{ target_type: 'Mail', name: email, id: messageId }],
      {},
      posted.ok ? 'Succeeded' : 'Failed',
    ),
  )
  const problem = posted.ok ? null : posted.problem
  return { ok: posted.ok, server: post.server, ms, problem, message_id: messageId }
}
