/** A webhook as its operator sees it. */
import type { Webhook } from '../../contract/endpoints/webhooks.ts'
import type { Db } from '../../database/database.ts'
import { feedOf } from './feed-view.ts'
import type { WebhookRow } from './secrets.ts'

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
