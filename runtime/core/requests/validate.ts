/** Checks of a new request before people decide: its validation webhook and those of pre-approval rules. */

import type { Db } from '../../database/database.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { lockedRow } from '../kernel/by-id.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { keptText } from '../kernel/kept-text.ts'
import type { WebhookAnswer } from '../webhooks/call.ts'
import { apply } from './apply.ts'
import { beginDecisions } from './decide.ts'
import { systemOf } from './machine/request.ts'
import { fittingRules } from './preapproved.ts'
import { recordRequest } from './record.ts'
import { askWebhook } from './webhooks.ts'

/**
 * Asks the webhooks of a request, and advances it. A webhook that fails decides nothing: people decide then,
 * and the failure is visible to those who may read the tasks of its app.
 */
export async function validate(db: Db, request: RequestRow, parts: RequestContext): Promise<void> {
  const verdict = await validated(db, request, parts)
  // If the validation webhook failed, no pre-approval rule applies.
  const preapproved = verdict.end === 'valid' ? await preapprovedBy(db, request, parts) : null
  await db.transaction(async (tx) => {
    const now = await lockedRow(tx, accessRequests, request.id)
    if (now?.pendingOperation !== 'check') return
    const because = 'a validation webhook'
    if (verdict.end === 'refused')
      await apply(tx, now, { kind: 'denied', note: verdict.why, because, decision: null }, parts)
    else
      await beginDecisions(tx, now, preapproved, parts, {
        failure: verdict.end === 'failed' ? verdict.why : null,
      })
  })
}

type Verdict = { end: 'valid' } | { end: 'refused' | 'failed'; why: string }

/** Returns the verdict of the validation webhook. A request without one is valid. */
async function validated(db: Db, request: RequestRow, parts: RequestContext): Promise<Verdict> {
  const { validationWebhook } = request.plan
  if (validationWebhook === null) return { end: 'valid' }
  const answer = await askWebhook(db, request, validationWebhook, 'REQUEST_VALIDATION', parts)
  const event = 'APP_STORE_INLINE_WEBHOOK_REQUEST_VALIDATION_FOR_ACCESS_REQUEST'
  // The failure is in the note of the request. The log has more readers and cannot be changed.
  const said = {
    webhook_id: validationWebhook,
    ...(answer.ok ? { valid: verdictOf(answer.response) } : {}),
  }
  const outcome = answer.ok ? 'Succeeded' : 'Failed'
  await db.transaction((tx) => recordRequest(tx, request, event, said, systemOf(request), outcome))
  if (!answer.ok) return { end: 'failed', why: answer.problem }
  const { valid } = answer.response
  if (valid !== undefined && typeof valid !== 'boolean')
    return {
      end: 'failed',
      why: 'The validation webhook returned a `valid` that is neither true nor false',
    }
  if (verdictOf(answer.response) !== false) return { end: 'valid' }
  const { reason } = answer.response
  const why = typeof reason === 'string' ? keptText(reason, 1000) : 'An automatic check denied it'
  return { end: 'refused', why }
}

/** Returns only the boolean verdict. Nothing else of an answer may get into the log. */
const verdictOf = ({ valid }: Record<string, unknown>): boolean | null =>
  typeof valid === 'boolean' ? valid : null

/** Returns the justification of the first rule whose webhooks all answer `approved: true`, or null. */
async function preapprovedBy(
  db: Db,
  request: RequestRow,
  parts: RequestContext,
): Promise<string | null> {
  for (const { justification, webhooks } of await fittingRules(db, request)) {
    let all = true
    for (const id of webhooks) {
      const answer: WebhookAnswer = await askWebhook(db, request, id, 'PRE_APPROVAL', parts)
      all = answer.ok && answer.response['approved'] === true
      if (!all) break
    }
    if (all) return justification
  }
  return null
}
