/**
 * Interprets the reply of a webhook (core-interface.md section 1.17, outbound inline webhooks). The page says
 * "any parsable JSON". Here the status must also be 2xx, because an error in JSON is not a success.
 */

import { storageFault } from '../../contract/endpoints/body.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'
import { marksIn } from '../../contract/limits/reply-limits.ts'
import { type InlineWebhookType, WEBHOOK_TYPES } from '../../contract/models/inline-webhook.ts'
import { isObject } from '../../contract/schema/record.ts'

/** Result of a call. `problem` contains no secrets. */
export type WebhookAnswer =
  | { ok: true; response: Record<string, unknown> }
  | { ok: false; problem: string }

/** Interprets a reply. `response` is the object in its `output`, or else in its `response`. */
export function parseResponse(
  hookType: InlineWebhookType,
  { status, body }: { status: number; body: Buffer },
): WebhookAnswer {
  const refused = (problem: string) => ({ ok: false as const, problem })
  if (status >= 300 && status < 400)
    return refused(
      `it answered ${status}, a redirect, which is not followed: set the final address`,
    )
  if (status < 200 || status >= 300) return refused(`it answered ${status}`)
  const { answer } = WEBHOOK_TYPES[hookType]
  const isEnough = answer === 'any' || (answer === 'json_or_204' && status === 204)
  if (isEnough) return { ok: true, response: {} }
  if (body.length === 0) return refused(`it answered ${status} without a body; JSON was expected`)
  // Bytes below the limit are parsed quickly, but a large number of values is not.
  const { maxMarks } = INPUTS.webhook_reply
  if (marksIn(body, maxMarks) > maxMarks)
    return refused(`it answered ${status} with more than ${maxMarks / 2} values; send fewer`)
  const value = parsed(body)
  if (value === undefined) return refused(`it answered ${status} with something that is not JSON`)
  const odd = storageFault(value)
  if (odd !== null) return refused(`it answered ${status} with JSON that cannot be stored: ${odd}`)
  const { output, response } = isObject(value) ? value : {}
  const inner = [output, response].find(isObject) ?? {}
  return { ok: true, response: inner }
}

/** Parses JSON. Undefined if it is invalid. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    // Invalid JSON is an expected result here: another system wrote the reply.
    return undefined
  }
}
