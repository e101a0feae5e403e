/** Inline webhooks of access requests: what they are told, and what their answers mean. */
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

/** Asks a webhook about a request. `app`: the request's, where it is known already. */
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

/** A permission that was deleted since, by its name: without any it would read as the app itself. */
const goneOf = ({ permissionId, label }: RequestRow) =>
  permissionId === null && label !== null
    ? { permissions: [{ label, value: null, type: 'PERMISSION', source: 'NATIVE' }] }
    : {}

/** Has a webhook give the access. */
export async function callProvisioningWebhook(
  db: Db,
  request: RequestRow,
  parts: RequestContext,
): Promise<StepOutcome> {
  const { app, config } = await subjectOf(db, request)
  if (config.provisioningWebhook === null)
    return { ok: false, end: 'manual', problem: 'the provisioning webhook was taken away' }
  return once(db, request, { app, webhookId: config.provisioningWebhook }, 'PROVISION', parts)
}

/** Which webhook is called, and the app of the request. */
type Called = { app: AppRow; webhookId: string }

/** Has a webhook take the access back. */
export const callRemovalWebhook = (
  db: Db,
  request: RequestRow,
  called: Called,
  parts: RequestContext,
): Promise<StepOutcome> => once(db, request, called, 'DEPROVISION', parts)

type Once = {
  /** What a call that was begun before says to people; null where none was. */
  called: string | null
  /** Writes down that it is called now; false where it is to be called no more. */
  noteCall(): Promise<boolean>
  call(): Promise<WebhookAnswer>
}

/** A webhook is never called twice for one thing: what came of a call that nobody heard, people find out. */
export async function callOnce({ called, noteCall, call }: Once): Promise<StepOutcome> {
  if (called !== null) return { ok: false, end: 'manual', problem: called }
  if (!(await noteCall()))
    return {
      ok: false,
      end: 'manual',
      problem: 'what was wanted changed before the webhook was called',
    }
  const answer = await call()
  return answer.ok
    ? { ok: true, found: false }
    : { ok: false, end: 'manual', problem: answer.problem }
}

/** Calls a webhook for a request. */
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
        ? 'the webhook was called, but its answer was lost: it may have done it'
        : null,
    noteCall: () => noteWebhookCall(db, request, event === 'PROVISION' ? 'grant' : 'remove'),
    call: () => askWebhook(db, request, webhookId, event, parts, app),
  })
