/**
 * Creates mail from the activity log, whose entries are written in the transaction of the change that they
 * record: a rolled-back change creates no mail, and no committed change is missed. The read position is
 * stored in the transaction that queues the mail.
 */
import { and, asc, eq, gt, inArray, lte, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { activityLogs } from '../../database/schema/audit.ts'
import { mailFeeds } from '../../database/schema/mail.ts'
import { chainWaiting } from '../kernel/audit/unchained-entries.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import type { Post } from '../kernel/context/post.ts'
import { MAILED_EVENTS, mailOfEvent } from './event-mails.ts'
import { queueEnding, queueEventMail } from './queue.ts'

/** Maximum number of entries per transaction, and of transactions per job. */
const BATCH = 100
const MAX_ROUNDS = 50
/** Entries older than this create no mail: mail was off, or the host was down. */
const NEWS = sql`clock_timestamp() - interval '1 day'`

/** Returns the job that reads the log of a domain. Without a mail server nothing is ever due. */
export const mailFeedJob = (post: Post | null): JobHandler => ({
  handle: readOn,
  due: async (db) => (post ? dueFeeds(db) : []),
  // The domain is still due and will be found again.
  gaveUp: async () => {},
})

/**
 * Returns the domains whose log has grown, or that have not been searched for ending access within the last
 * minute.
 */
async function dueFeeds(db: Db): Promise<string[]> {
  await db.execute(sql`
    insert into mail_feeds (domain_id, read_id)
    select d.id, coalesce((select max(id) from activity_logs), 0) from domains d
    where not exists (select from mail_feeds f where f.domain_id = d.id)
    on conflict do nothing`)
  const { rows } = await db.execute<{ id: string }>(sql`
    select domain_id as id from mail_feeds f
    where swept_at is null or swept_at < clock_timestamp() - interval '1 minute'
      or exists (select from activity_logs l where l.id > f.read_id and l.domain_id = f.domain_id)`)
  return rows.map(({ id }) => id)
}

async function readOn(db: Db, domainId: string): Promise<void> {
  await chainWaiting(db, domainId)
  for (let round = 0; round < MAX_ROUNDS; round += 1) if (!(await readSome(db, domainId))) return
}

/**
 * Reads one batch of entries.
 *
 * @returns whether there are more
 */
async function readSome(db: Db, domainId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [feed] = await tx
      .select()
      .from(mailFeeds)
      .where(eq(mailFeeds.domainId, domainId))
      .for('update')
    if (!feed) return false
    const { rows } = await tx.execute<{ head: string; sweep: boolean }>(sql`
      select coalesce((select max(id) from activity_logs), 0)::text as head,
        ${feed.sweptAt?.toISOString() ?? null}::timestamptz is not distinct from null
          or ${feed.sweptAt?.toISOString() ?? null}::timestamptz < clock_timestamp() - interval '1 minute' as sweep`)
    const head = BigInt(rows[0]?.head ?? 0)
    const entries = await tx
      .select()
      .from(activityLogs)
      .where(
        and(
          eq(activityLogs.domainId, domainId),
          gt(activityLogs.id, feed.readId),
          lte(activityLogs.id, head),
          inArray(activityLogs.eventType, [...MAILED_EVENTS]),
          gt(activityLogs.beganAt, NEWS),
        ),
      )
      .orderBy(asc(activityLogs.id))
      .limit(BATCH)
    for (const entry of entries) {
      const subject = mailOfEvent(entry)
      if (subject) await queueEventMail(tx, domainId, subject, entry.eventHash.slice(0, 32))
    }
    const isSwept = rows[0]?.sweep ?? false
    if (isSwept) await queueEnding(tx, domainId)
    const isWhole = entries.length < BATCH
    await tx
      .update(mailFeeds)
      .set({
        readId: isWhole ? head : (entries.at(-1)?.id ?? head),
        ...(isSwept ? { sweptAt: sql`clock_timestamp()` } : {}),
      })
      .where(eq(mailFeeds.domainId, domainId))
    return !isWhole
  })
}
