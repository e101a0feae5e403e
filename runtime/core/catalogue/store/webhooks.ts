/** Inline webhooks as records, to which settings, permissions and rules refer. */
import { asc, eq } from 'drizzle-orm'
import type { InlineWebhook } from '../../../contract/models/inline-webhook.ts'
import type { Db } from '../../../database/database.ts'
import { inlineWebhooks } from '../../../database/schema/app_store.ts'
import { isReachRefused } from '../../kernel/identity/app-reach.ts'
import { type Principal, requirePermission } from '../../kernel/identity/principal.ts'

/** Converts a webhook to its wire form. */
export const toWebhook = (row: typeof inlineWebhooks.$inferSelect): InlineWebhook => ({
  id: row.id,
  hook_type: row.hookType,
  name: row.name,
  description: row.description,
})

/**
 * Lists the inline webhooks, for callers who may read settings and choose among them. App Admins do so for
 * their apps.
 *
 * @throws CoreError `forbidden`
 */
export async function listWebhooks(db: Db, principal: Principal): Promise<InlineWebhook[]> {
  if (isReachRefused(principal, 'appstore.read')) requirePermission(principal, 'appstore.read')
  const rows = await db
    .select()
    .from(inlineWebhooks)
    .where(eq(inlineWebhooks.domainId, principal.domainId))
    .orderBy(asc(inlineWebhooks.name), asc(inlineWebhooks.id))
  return rows.map(toWebhook)
}
