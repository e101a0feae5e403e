/** Inline webhooks of access requests: calling them, and the meaning of their answers. */
import type { InlineWebhookType } from '../../contract/models/inline-webhook.ts'
import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import type { StepOutcome } from '../provisioning/client.ts'
import { callWebhook, type WebhookAnswer } from '../webhooks/call.ts'
import { noteWebhookCall } from './move.ts'
import { subjectOf } from './subject.ts'
import { webhookPayload } from './webhook-payload.ts'

/** Asks a webhook about a request. @param app the request's app, if already known */
export async function askWebhook(
  db: Db,
  request: RequestRow,
  webhookId: string,
  event: Exclude<InlineWebhookType, 'SIEM'>,
  parts: RequestContext,
  app?: AppRow,
): Promise<WebhookAnswer> {
  const permissionIds = request.permissionId ? [request.permissionId] : []
  const about = { ...request, permissionIds, ...(app ? { app } : {}) }
  const payload = await webhookPayload(db, { ...about, accessRequestId: request.id, event })
  const said = {
    business_justification: request.notes['PENDING'] ?? null,
    expiration_in_seconds: request.expirationInSeconds,
  }
  return callWebhook(db, parts, { webhookId, payload: { ...payload, ...goneOf(request), ...said } })
}

/** Names a deleted permission: without one, the payload would look like a request for the app itself. */
const goneOf = ({ permissionId, label }: RequestRow) =>
  permissionId === null && label !== null
    ? { permissions: [{ label, value: null, type: 'PERMISSION', source: 'NATIVE' }] }
    : {}

/** Has a webhook grant the access. */
export async function callProvisioningWebhook(
  db: Db,
  request: RequestRow,
  parts: RequestContext,
): Promise<StepOutcome> {
  const { app, config } = await subjectOf(db, request)
  if (config.provisioningWebhook === null)
    return { ok: false, fault: 'manual', problem: 'the provisioning webhook was removed' }
  return once(db, request, { app, webhookId: config.provisioningWebhook }, 'PROVISION', parts)
}

/** Webhook to call, and the app of the request. */
type Called = { app: AppRow; webhookId: string }

/** Has a webhook revoke the access. */
export const callRemovalWebhook = (
  db: Db,
  request: RequestRow,
  called: Called,
  parts: RequestContext,
): Promise<StepOutcome> => once(db, request, called, 'DEPROVISION', parts)

type Once = {
  /** Problem for people if a call was begun before, else null. */
  called: string | null
  /** Records that the webhook is being called. Returns false if it should not be called any more. */
  noteCall(): Promise<boolean>
  call(): Promise<WebhookAnswer>
}

/** Calls a webhook at most once per operation: if an earlier answer was lost, people have to find out. */
export async function callOnce({ called, noteCall, call }: Once): Promise<StepOutcome> {
  if (called !== null) return { ok: false, fault: 'manual', problem: called }
  if (!(await noteCall()))
    return {
      ok: false,
      fault: 'manual',
      problem: 'the request changed before the webhook was called',
    }
  const answer = await call()
  return answer.ok
    ? { ok: true, found: false }
    : { ok: false, fault: 'manual', problem: answer.problem }
}

/** Calls a webhook for a request, at most once per operation. */
const once = (
  db: Db,
  request: RequestRow,
  { app, webhookId }: Called,
  event: 'PROVISION' | 'DEPROVISION',
  parts: RequestContext,
): Promise<StepOutcome> =>
  callOnce({
    called:
      request.attempts > 0
        ? 'the webhook was called, but its answer was lost: it may have succeeded'
        : null,
    noteCall: () => noteWebhookCall(db, request, event === 'PROVISION' ? 'grant' : 'remove'),
    call: () => askWebhook(db, request, webhookId, event, parts, app),
  })
