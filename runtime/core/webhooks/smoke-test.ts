/** Sends a sample message to a webhook. */
import { randomUUID } from 'node:crypto'
import type { WebhookTried } from '../../contract/endpoints/webhooks.ts'
import type { Db } from '../../database/database.ts'
import type { WebhookRow } from '../../database/schema/app_store.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { eventBody } from './event.ts'
import { findWebhook } from './manage.ts'
import { sendWebhook } from './send.ts'

/**
 * Sends a sample, even to a disabled webhook, and returns the outcome.
 *
 * @throws CoreError `not_found`
 */
export async function tryWebhook(
  db: Db,
  actor: Actor,
  id: string,
  parts: RequestContext,
): Promise<WebhookTried> {
  const row = await findWebhook(db, actor, id)
  const payload = sampleOf(row, await parts.now(db))
  const startedMs = performance.now()
  const sent = await sendWebhook(db, parts, row, { messageId: `msg_${randomUUID()}`, payload })
  const ms = Math.round(performance.now() - startedMs)
  const target = { target_type: 'InlineWebhook', name: row.name, id: row.id }
  await db.transaction((tx) =>
    recordActivity(
      tx,
      actor,
      'INLINE_WEBHOOK_TESTED',
      [target],
      { status: sent.status },
      sent.ok ? 'Succeeded' : 'Failed',
    ),
  )
  return {
    ok: sent.ok,
    status: sent.status,
    ms,
    problem: sent.ok ? null : sent.problem,
    response: sent.ok ? sent.response : null,
    sent: payload,
  }
}

const PERSON = {
  id: '00000000-0000-4000-8000-000000000001',
  email: 'ada@example.com',
  given_name: 'Ada',
  family_name: 'Sample',
  status: 'ACTIVE',
}

/** Returns a message that looks like a real one, about an imaginary person. The member `test` marks it. */
function sampleOf({ hookType }: WebhookRow, now: Date): Record<string, unknown> {
  if (hookType === 'SIEM')
    return {
      ...eventBody({
        eventType: 'INLINE_WEBHOOK_TESTED',
        outcome: 'Succeeded',
        actor: { actor_type: 'Lumos system', email: '', given_name: '', family_name: '' },
        targets: [],
        metadata: {},
        beganAt: now,
        eventHash: '0'.repeat(128),
      }),
      test: true,
    }
  return {
    application: {
      app_id: 'sample',
      instance_id: 'sample',
      user_friendly_label: 'Sample',
    },
    permissions: [{ label: 'Sample', value: 'sample', type: 'PERMISSION', source: 'NATIVE' }],
    custom_fields: null,
    event: hookType,
    access_request_id: '00000000-0000-4000-8000-000000000000',
    requester: PERSON,
    target: PERSON,
    test: true,
  }
}
