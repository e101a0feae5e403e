/** Inline webhooks of access requests: what they are told, and what their answers mean. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import type { RequestParts } from '../parts.ts'
import { toUser } from '../people/users.ts'
import { callWebhook, type WebhookAnswer } from '../webhooks/call.ts'
import { subjectOf } from './carried.ts'
import { change, type RequestRow } from './move.ts'
import type { Outcome } from './outcome.ts'

/** What every webhook of a request is told (core-interface.md section 1.17, "Outbound inline webhooks"). */
async function payloadOf(db: Db, request: RequestRow, event: string) {
  const { app, permission } = await subjectOf(db, request)
  const person = async (id: string | null) => {
    const [row] = id === null ? [] : await db.select().from(users).where(eq(users.id, id))
    return row ? toUser(row) : null
  }
  return {
    application: {
      app_id: app.appClassId,
      instance_id: app.instanceId,
      user_friendly_label: app.name,
    },
    permissions:
      permission === null
        ? []
        : [
            {
              label: permission.label,
              value: permission.entitlementId ?? permission.id,
              type: 'PERMISSION',
              source: permission.type,
            },
          ],
    custom_fields: null,
    event,
    access_request_id: request.id,
    requester: await person(request.requesterId),
    target: await person(request.targetUserId),
    business_justification: request.notes['PENDING'] ?? null,
    expiration_in_seconds: request.expirationInSeconds,
  }
}

/** Asks a webhook about a request. */
export async function askWebhook(
  db: Db,
  request: RequestRow,
  webhookId: string,
  event: 'PRE_APPROVAL' | 'REQUEST_VALIDATION' | 'PROVISION' | 'DEPROVISION',
  parts: RequestParts,
): Promise<WebhookAnswer> {
  const payload = await payloadOf(db, request, event)
  return callWebhook(db, parts, { webhookId, payload })
}

/** Has a webhook give the access. */
export async function callProvisioningWebhook(
  db: Db,
  request: RequestRow,
  parts: RequestParts,
): Promise<Outcome> {
  const { config } = await subjectOf(db, request)
  if (config.provisioningWebhook === null)
    return { ok: false, end: 'manual', problem: 'the provisioning webhook was taken away' }
  return once(db, request, config.provisioningWebhook, 'PROVISION', parts)
}

/** Has a webhook take the access back. */
export const callRemovalWebhook = (
  db: Db,
  request: RequestRow,
  webhookId: string,
  parts: RequestParts,
): Promise<Outcome> => once(db, request, webhookId, 'DEPROVISION', parts)

/** A webhook is never called twice for one thing: what came of a call that nobody heard, people find out. */
async function once(
  db: Db,
  request: RequestRow,
  webhookId: string,
  event: 'PROVISION' | 'DEPROVISION',
  parts: RequestParts,
): Promise<Outcome> {
  if (request.attempts > 0)
    return {
      ok: false,
      end: 'manual',
      problem: 'the webhook was called, but its answer was lost: it may have done it',
    }
  await change(db, request, { attempts: 1, ...(event === 'PROVISION' ? { wasThere: false } : {}) })
  const answer = await askWebhook(db, request, webhookId, event, parts)
  return answer.ok
    ? { ok: true, found: false }
    : { ok: false, end: 'manual', problem: answer.problem }
}
