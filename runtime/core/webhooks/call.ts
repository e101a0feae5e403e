/** Calling an inline webhook: a system of the operator's is asked, or told, at one point. */
import type { Db } from '../../database/database.ts'
import type { RequestParts } from '../parts.ts'

/** What a call came to. `problem` is in words without secrets. */
export type WebhookAnswer =
  | { ok: true; response: Record<string, unknown> }
  | { ok: false; problem: string }

export async function callWebhook(
  _db: Db,
  _parts: RequestParts,
  _call: { webhookId: string; payload: Record<string, unknown> },
): Promise<WebhookAnswer> {
  return { ok: false, problem: 'webhooks are not delivered yet' }
}
