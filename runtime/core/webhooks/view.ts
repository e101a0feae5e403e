/** A webhook as its operator sees it. */

import { eq, sql } from 'drizzle-orm'
import type { Webhook } from '../../contract/endpoints/webhooks.ts'
import type { Db } from '../../database/database.ts'
import type { WebhookRow } from '../../database/schema/app_store.ts'
import { activityLogs, activityWaiting } from '../../database/schema/audit.ts'
import { eventFeeds } from '../../database/schema/webhooks.ts'

/** Without what its headers hold and what it is signed with. */
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

/** Most events that are counted. */
const MOST_COUNTED = 1000

/**
 * Begins with what happens from now on, where the log was chained before; a feed that is there goes on where it is, and
 * at once, because something of the webhook was changed.
 */
export async function beginFeed(tx: Db, { id, domainId }: Owner): Promise<void> {
  const newest = sql`coalesce((select max(id) from activity_logs), 0)`
  await tx
    .insert(eventFeeds)
    .values({ webhookId: id, domainId, deliveredId: newest })
    .onConflictDoUpdate({ target: eventFeeds.webhookId, set: { nextTryAt: null } })
}

/** What an operator sees of it. */
async function feedOf(db: Db, { id, domainId }: Owner): Promise<Webhook['feed']> {
  const [feed] = await db.select().from(eventFeeds).where(eq(eventFeeds.webhookId, id))
  if (!feed) return null
  // In one snapshot: an entry is chained or waits for it.
  const { rows } = await db.execute<{ waiting: number }>(sql`
    select count(*)::int as waiting from (
      (select 1 from ${activityLogs}
        where ${activityLogs.domainId} = ${domainId} and ${activityLogs.id} > ${feed.deliveredId}
        limit ${MOST_COUNTED})
      union all
      (select 1 from ${activityWaiting} where ${activityWaiting.domainId} = ${domainId} limit ${MOST_COUNTED})
      limit ${MOST_COUNTED}) undelivered`)
  return {
    waiting: rows[0]?.waiting ?? 0,
    failing_since: feed.failingSince?.toISOString() ?? null,
    next_try_at: feed.nextTryAt?.toISOString() ?? null,
    problem: feed.problem,
  }
}
