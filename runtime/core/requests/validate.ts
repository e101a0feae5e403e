/** Looking at a new request before anybody is asked: the validation webhook, and rules that webhooks decide. */

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
 * Asks the webhooks of a request, and goes on with it. A webhook that fails decides nothing: the request is
 * then for people, and those who may read the tasks of its app read why.
 */
export async function validate(db: Db, request: RequestRow, parts: RequestContext): Promise<void> {
  const verdict = await validated(db, request, parts)
  // Where the webhook said nothing, no rule speaks for it.
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

/** What the validation webhook says; a request without one is valid. */
async function validated(db: Db, request: RequestRow, parts: RequestContext): Promise<Verdict> {
  const { validationWebhook } = request.plan
  if (validationWebhook === null) return { end: 'valid' }
  const answer = await askWebhook(db, request, validationWebhook, 'REQUEST_VALIDATION', parts)
  const event = 'APP_STORE_INLINE_WEBHOOK_REQUEST_VALIDATION_FOR_ACCESS_REQUEST'
  // What failed is in the note of the request: the log goes further, and cannot be changed.
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
      why: 'The validation webhook answered a `valid` that is neither true nor false',
    }
  if (verdictOf(answer.response) !== false) return { end: 'valid' }
  const { reason } = answer.response
  const why = typeof reason === 'string' ? keptText(reason, 1000) : 'An automatic check said no'
  return { end: 'refused', why }
}

/** What it says, where it says it: nothing else of an answer gets into the log. */
const verdictOf = ({ valid }: Record<string, unknown>): boolean | null =>
  typeof valid === 'boolean' ? valid : null

/** The justification of the first rule whose webhooks all say `approved: true`. */
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
