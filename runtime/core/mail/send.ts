/**
 * Sends due mail, one person at a time. The message of each mail is stored before it is sent: if a host dies
 * in between, the same message is sent again with the same Message-ID.
 */
import { randomUUID } from 'node:crypto'
import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm'
import type { MailChoice } from '../../contract/models/personal-settings.ts'
import type { Db } from '../../database/database.ts'
import { mails, personalSettings } from '../../database/schema/mail.ts'
import { users } from '../../database/schema/people.ts'
import type { Language } from '../../words/languages.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import { idsOf } from '../kernel/by-id.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import type { Post } from '../kernel/context/post.ts'
import { mayAct } from '../kernel/identity/principal.ts'
import { DAY_MS, pauseMs, RETRY_SCHEDULES } from '../kernel/jobs/retry-schedules.ts'
import { keptText } from '../kernel/kept-text.ts'
import { addressRefusal } from './address.ts'
import { bundlesOf } from './bundles.ts'
import { compose } from './compose.ts'
import { MAIL_CONTENTS, type MailContent } from './contents.ts'
import { named } from './mail-names.ts'

type MailRow = typeof mails.$inferSelect

/** Maximum number of mails of one person per job. */
const BATCH = 50
/** Maximum number of messages to one person within an hour, and in total within a minute, over all hosts. */
const MAX_PER_HOUR = 20
const MAX_PER_MINUTE = 300
const MAX_PROBLEM = 500

const isDue = and(isNull(mails.endedAt), lte(mails.dueAt, sql`clock_timestamp()`))

/** Returns the job that sends mail. Without a mail server nothing is ever due. */
export const mailJob = (post: Post | null): JobHandler => ({
  async handle(db, userId, parts) {
    if (post) await sendTo(db, userId, post, parts)
  },
  async due(db) {
    if (!post || (await isFull(db))) return []
    const rows = await db
      .select({ id: mails.userId })
      .from(mails)
      .where(isDue)
      .groupBy(mails.userId)
      .orderBy(sql`min(${mails.dueAt})`)
      .limit(100)
    return rows.map(({ id }) => id)
  },
  // The mail is still due and will be found again.
  gaveUp: async () => {},
})

/** Reports whether the maximum number of mails per minute has been reached. */
async function isFull(db: Db): Promise<boolean> {
  const { rows } = await db.execute<{ n: number }>(sql`
    select count(*)::int as n from (select from mails
      where ended_at > clock_timestamp() - interval '1 minute' and outcome = 'SENT'
      limit ${MAX_PER_MINUTE}) sent`)
  return (rows[0]?.n ?? 0) >= MAX_PER_MINUTE
}

type Person = {
  email: string
  name: string
  language: Language
  mail: MailChoice
}

/** Returns the recipient, or null if the person may not act or wants no mail. */
async function personOf(db: Db, userId: string, post: Post): Promise<Person | null> {
  const [found] = await db
    .select({ user: users, chosen: personalSettings })
    .from(users)
    .leftJoin(personalSettings, eq(personalSettings.userId, users.id))
    .where(eq(users.id, userId))
  if (!found || !mayAct(found.user.status) || found.chosen?.mail === 'NONE') return null
  const { email, givenName, familyName } = found.user
  return {
    email,
    name: named(`${givenName} ${familyName}`) ?? named(email) ?? '',
    language: found.chosen?.language ?? post.language,
    mail: found.chosen?.mail ?? 'AT_ONCE',
  }
}

async function sendTo(db: Db, userId: string, post: Post, parts: RequestContext): Promise<void> {
  const bundles = await begin(db, userId, post)
  for (const [messageId, rows] of bundles) {
    if (parts.signal.aborted) return
    // Read again for each message. A slow server takes minutes, in which the person may be suspended or
    // change their address.
    const person = await personOf(db, userId, post)
    if (person) await sendOne(db, { userId, messageId, rows, person, post, parts })
    else await end(db, rows, { outcome: 'DROPPED' })
  }
}

type Bundles = Map<string, MailRow[]>
const NOTHING_DUE: Bundles = new Map()

/** Returns the messages to send to a person now: message id -> its mails. */
async function begin(db: Db, userId: string, post: Post): Promise<Bundles> {
  return db.transaction(async (tx) => {
    const rows = await tx
      .select()
      .from(mails)
      .where(and(eq(mails.userId, userId), isDue))
      .orderBy(asc(mails.createdAt), asc(mails.id))
      .limit(BATCH)
      .for('update', { skipLocked: true })
    if (rows.length === 0) return NOTHING_DUE
    const person = await personOf(tx, userId, post)
    if (!person) {
      await end(tx, rows, { outcome: 'DROPPED' })
      return NOTHING_DUE
    }
    if (await isFlooded(tx, userId)) {
      await putOff(tx, rows, 3_600_000)
      return NOTHING_DUE
    }
    const bundles = bundlesOf(rows, person.mail, randomUUID)
    for (const [messageId, carried] of bundles)
      await tx
        .update(mails)
        .set({ messageId })
        .where(inArray(mails.id, idsOf(carried)))
    return bundles
  })
}

async function isFlooded(tx: Db, userId: string): Promise<boolean> {
  const { rows } = await tx.execute<{ n: number }>(sql`
    select count(distinct message_id)::int as n from mails
    where user_id = ${userId} and outcome = 'SENT' and ended_at > clock_timestamp() - interval '1 hour'`)
  return (rows[0]?.n ?? 0) >= MAX_PER_HOUR
}

type Sending = {
  userId: string
  messageId: string
  rows: readonly MailRow[]
  person: Person
  post: Post
  parts: RequestContext
}

async function sendOne(db: Db, sending: Sending): Promise<void> {
  const { userId, messageId, rows, person, post, parts } = sending
  const now = await parts.now(db)
  const said: { row: MailRow; told: MailContent }[] = []
  const over: MailRow[] = []
  for (const row of rows) {
    const told = await MAIL_CONTENTS[row.kind](db, { userId, about: row.about, now })
    if (told) said.push({ row, told })
    else over.push(row)
  }
  await end(db, over, { outcome: 'DROPPED' })
  const carried = said.map(({ row }) => row)
  if (carried.length === 0) return
  const refusal = addressRefusal(person.email, post.from)
  if (refusal !== null) return end(db, carried, { outcome: 'REFUSED', problem: refusal })
  const letter = compose(
    said.map(({ told }) => told),
    {
      ...{ to: person.email, name: person.name, language: person.language },
      ...{ origin: post.origin, messageId: messageIdOf(messageId, post) },
    },
  )
  const posted = await post.send(letter)
  if (posted.ok) return end(db, carried, { outcome: 'SENT', problem: null })
  // This host is stopping; the next one continues.
  if (parts.signal.aborted) return
  const problem = keptText(posted.problem, MAX_PROBLEM)
  if (posted.ends) return end(db, carried, { outcome: 'REFUSED', problem })
  const attempts = Math.max(...carried.map((row) => row.attempts)) + 1
  const oldestMs = Math.min(...carried.map(({ createdAt }) => createdAt.getTime()))
  if (now.getTime() - oldestMs > RETRY_SCHEDULES.mail.endAfterMs)
    return end(db, carried, {
      outcome: 'REFUSED',
      problem: `given up after ${RETRY_SCHEDULES.mail.endAfterMs / DAY_MS} days: ${problem}`,
    })
  await putOff(db, carried, pauseMs('mail', attempts), { attempts, problem })
}

/** Returns the Message-ID, in the domain of the sender's address. */
export const messageIdOf = (id: string, { from }: Pick<Post, 'from'>): string =>
  `${id}@${from.split('@').at(-1)}`

type End = { outcome: NonNullable<MailRow['outcome']>; problem?: string | null }

async function end(db: Db, rows: readonly MailRow[], how: End): Promise<void> {
  if (rows.length === 0) return
  await db
    .update(mails)
    .set({ ...how, endedAt: sql`clock_timestamp()` })
    .where(and(inArray(mails.id, idsOf(rows)), isNull(mails.endedAt)))
}

async function putOff(
  db: Db,
  rows: readonly MailRow[],
  ms: number,
  failed: { attempts?: number; problem?: string } = {},
): Promise<void> {
  await db
    .update(mails)
    .set({ ...failed, dueAt: sql`clock_timestamp() + ${ms} * interval '1 millisecond'` })
    .where(and(inArray(mails.id, idsOf(rows)), isNull(mails.endedAt)))
}
