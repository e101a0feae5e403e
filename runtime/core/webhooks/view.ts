/** A webhook as shown to its operator. */

import { eq, sql } from 'drizzle-orm'
import type { Webhook } from '../../contract/endpoints/webhooks.ts'
import type { Db } from '../../database/database.ts'
import type { WebhookRow } from '../../database/schema/app_store.ts'
import { activityLogs, activityWaiting } from '../../database/schema/audit.ts'
import { eventFeeds } from '../../database/schema/webhooks.ts'

/** Returns a webhook without its header values and secret. */
export const toOperatorsWebhook = async (db: Db, row: WebhookRow): Promise<Webhook> => ({
  id: row.id,
  hook_type: row.hookType,
  name: row.name,
  description: row.description,
  url: row.url,
  headers: row.headerNames,
  enabled: row.enabled,
  feed: row.hookType === 'SIEM' ? await feedOf(db, row) : null,
})

type Owner = Pick<WebhookRow, 'id' | 'domainId'>

/** Maximum number of events that are counted. */
const MAX_COUNTED = 1000

/**
 * Begins a feed at the end of the log, whose entries were chained before. An existing feed continues where it
 * is, without waiting for its next attempt, because the webhook was changed.
 */
export async function beginFeed(tx: Db, { id, domainId }: Owner): Promise<void> {
  const newest = sql`coalesce((select max(id) from activity_logs), 0)`
  await tx
    .insert(eventFeeds)
    .values({ webhookId: id, domainId, deliveredId: newest })
    .onConflictDoUpdate({ target: eventFeeds.webhookId, set: { nextTryAt: null } })
}

/** Returns the state of a feed for the operator. */
async function feedOf(db: Db, { id, domainId }: Owner): Promise<Webhook['feed']> {
  const [feed] = await db.select().from(eventFeeds).where(eq(eventFeeds.webhookId, id))
  if (!feed) return null
  // In one snapshot, in which an entry is either chained or waiting.
  const { rows } = await db.execute<{ waiting: number }>(sql`
    select count(*)::int as waiting from (
      (select 1 from ${activityLogs}
        where ${activityLogs.domainId} = ${domainId} and ${activityLogs.id} > ${feed.deliveredId}
        limit ${MAX_COUNTED})
      union all
      (select 1 from ${activityWaiting} where ${activityWaiting.domainId} = ${domainId} limit ${MAX_COUNTED})
      limit ${MAX_COUNTED}) undelivered`)
  return {
    waiting: rows[0]?.waiting ?? 0,
    failing_since: feed.failingSince?.toISOString() ?? null,
    next_try_at: feed.nextTryAt?.toISOString() ?? null,
    problem: feed.problem,
  }
}
