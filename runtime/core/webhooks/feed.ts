/**
 * Delivers the activity log to webhooks of type SIEM: every row, in order, at least once. The position of a
 * webhook is stored in its feed after each row, so a host that dies causes at most one row to be repeated,
 * with the same `webhook-id`. The webhook and the row are read again for each event, so that a change of
 * either, such as a new secret or an erasure, takes effect with the next event.
 */
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { inlineWebhooks, type WebhookRow } from '../../database/schema/app_store.ts'
import { activityLogs, type LogRow } from '../../database/schema/audit.ts'
import { eventFeeds } from '../../database/schema/webhooks.ts'
import { withPersonalValues } from '../kernel/audit/personal.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { later, pauseMs, RETRY_SCHEDULES } from '../kernel/jobs/retry-schedules.ts'
import { openErrorTask } from '../tasks/error-task.ts'
import { eventBody } from './event.ts'
import { sendWebhook } from './send.ts'

/** Maximum duration of one job, in milliseconds. The remaining rows are still due. */
const TURN_MS = 120_000

export const FEED_JOB: JobHandler = {
  handle: deliverEvents,
  due: dueFeeds,
  // Undelivered rows are still due. A failure that lasts has its task.
  gaveUp: async () => {},
}

type Feed = { feed: typeof eventFeeds.$inferSelect; webhook: WebhookRow }

const MAY_SEND = sql`${inlineWebhooks.enabled} and ${inlineWebhooks.url} is not null
  and (${eventFeeds.nextTryAt} is null or ${eventFeeds.nextTryAt} <= clock_timestamp())`

async function dueFeeds(db: Db): Promise<string[]> {
  const rows = await db
    .select({ id: eventFeeds.webhookId })
    .from(eventFeeds)
    .innerJoin(inlineWebhooks, eq(inlineWebhooks.id, eventFeeds.webhookId))
    .where(
      sql`${MAY_SEND} and exists (select 1 from ${activityLogs}
        where ${activityLogs.domainId} = ${eventFeeds.domainId} and ${activityLogs.id} > ${eventFeeds.deliveredId})`,
    )
    .limit(100)
  return rows.map(({ id }) => id)
}

async function deliverEvents(db: Db, webhookId: string, parts: RequestContext): Promise<void> {
  const endMs = performance.now() + TURN_MS
  while (performance.now() < endMs) {
    const next = await nextOf(db, webhookId)
    if (!next) return
    const { feed, webhook, row } = next
    const sent = await sendWebhook(db, parts, webhook, {
      // Not the row's number: after a backup is restored it would belong to another event, which the receiver
      // would drop as a duplicate.
      messageId: `evt_${webhookId}_${row.eventHash.slice(0, 32)}`,
      payload: eventBody(row),
    })
    if (!sent.ok) return failed(db, next, feed.deliveredId, sent.problem, parts)
    // Another host has taken over the feed, because this one was considered dead.
    if (!(await advance(db, webhookId, feed.deliveredId, row.id))) return
  }
}

/** Returns a feed that may be sent now, with its next row. Null if there is none. */
async function nextOf(db: Db, webhookId: string): Promise<(Feed & { row: LogRow }) | null> {
  const found = await db
    .select({ feed: eventFeeds, webhook: inlineWebhooks, row: activityLogs })
    .from(eventFeeds)
    .innerJoin(inlineWebhooks, eq(inlineWebhooks.id, eventFeeds.webhookId))
    .innerJoin(
      activityLogs,
      and(
        eq(activityLogs.domainId, eventFeeds.domainId),
        gt(activityLogs.id, eventFeeds.deliveredId),
      ),
    )
    .where(and(eq(eventFeeds.webhookId, webhookId), MAY_SEND))
    .orderBy(asc(activityLogs.id))
    .limit(1)
  const [next] = found
  if (!next) return null
  const [row] = await withPersonalValues(db, [next.row])
  return row ? { ...next, row } : null
}

/** Condition that a feed is still at a given position. */
const still = (webhookId: string, at: bigint) =>
  and(eq(eventFeeds.webhookId, webhookId), eq(eventFeeds.deliveredId, at))

async function advance(db: Db, webhookId: string, from: bigint, to: bigint): Promise<boolean> {
  const moved = await db
    .update(eventFeeds)
    .set({
      deliveredId: to,
      failingSince: null,
      attempts: 0,
      nextTryAt: null,
      problem: null,
      toldAt: null,
    })
    .where(still(webhookId, from))
    .returning({ id: eventFeeds.webhookId })
  return moved.length > 0
}

async function failed(
  db: Db,
  { feed, webhook }: Feed,
  deliveredId: bigint,
  problem: string,
  { now }: RequestContext,
): Promise<void> {
  await db.transaction(async (tx) => {
    const at = await now(tx)
    const [kept] = await tx
      .select()
      .from(eventFeeds)
      .where(still(webhook.id, deliveredId))
      .for('update')
    if (!kept) return
    const attempts = kept.attempts + 1
    const since = kept.failingSince ?? at
    const tell =
      kept.toldAt === null &&
      at.getTime() - since.getTime() >= RETRY_SCHEDULES['event-feed'].tellAfterMs
    await tx
      .update(eventFeeds)
      .set({
        failingSince: since,
        attempts,
        nextTryAt: later(at, pauseMs('event-feed', attempts)),
        problem,
        toldAt: tell ? at : kept.toldAt,
      })
      .where(eq(eventFeeds.webhookId, webhook.id))
    if (tell) await tellAdmins(tx, feed.domainId, webhook, problem)
  })
}

async function tellAdmins(
  tx: Db,
  domainId: string,
  { id, name }: WebhookRow,
  problem: string,
): Promise<void> {
  await openErrorTask(tx, domainId, {
    taskType: 'WEBHOOK_FAILING',
    description: `The activity log has not reached the webhook ${JSON.stringify(name)} for a day: ${problem}`,
    instructions: `Keyway keeps trying and continues where it stopped. Find the cause with \`keyway webhooks test ${id}\`.`,
  })
}
