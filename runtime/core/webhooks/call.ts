/** Calls an inline webhook, through which a system of the operator is queried or notified. */
import { randomUUID } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import { inlineWebhooks } from '../../database/schema/app_store.ts'
import { isId } from '../kernel/by-id.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import type { WebhookAnswer } from './parse-response.ts'
import { sendWebhook } from './send.ts'

const byId = prepared('inline webhook by id', (db) =>
  db
    .select()
    .from(inlineWebhooks)
    .where(eq(inlineWebhooks.id, sql.placeholder('id'))),
)

export type { WebhookAnswer } from './parse-response.ts'

/**
 * Calls a webhook once. `response` is the inner object of its reply, unchanged. A failure is a result too,
 * and its message names the webhook.
 *
 * @throws the reason of `parts.signal` once it is aborted. It is then unknown whether the call arrived.
 */
export async function callWebhook(
  db: Db,
  parts: RequestContext,
  { webhookId, payload }: { webhookId: string; payload: Record<string, unknown> },
): Promise<WebhookAnswer> {
  const [row] = isId(webhookId) ? await byId(db, { id: webhookId }) : []
  if (!row) return { ok: false, problem: 'the inline webhook was deleted' }
  const named = (problem: string) => `the inline webhook ${JSON.stringify(row.name)}: ${problem}`
  if (!row.enabled)
    return { ok: false, problem: named(`it is off; keyway webhooks update ${row.id} --enable`) }
  const sent = await sendWebhook(db, parts, row, { messageId: `msg_${randomUUID()}`, payload })
  if (!sent.ok) return { ok: false, problem: named(sent.problem) }
  return { ok: true, response: sent.response }
}
