/** Looking at a new request before anybody is asked: the validation webhook, and rules that webhooks decide. */

import { eq } from 'drizzle-orm'
import { keptText } from '../../contract/kept-text.ts'
import type { Db } from '../../database/database.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import type { RequestParts } from '../parts.ts'
import type { WebhookAnswer } from '../webhooks/call.ts'
import { begin, refused } from './decide.ts'
import { note, type RequestRow, systemOf } from './move.ts'
import { fittingRules } from './preapproved.ts'
import { askWebhook } from './webhooks.ts'

/**
 * Asks the webhooks of a request, and goes on with it. A webhook that fails decides nothing: the request is
 * then for people, who read why.
 */
export async function check(db: Db, request: RequestRow, parts: RequestParts): Promise<void> {
  const verdict = await validated(db, request, parts)
  const refusal = typeof verdict === 'object' ? verdict.refusal : null
  // Where the webhook said nothing, no rule speaks for it.
  const preapproved = verdict === 'valid' ? await preapprovedBy(db, request, parts) : null
  await db.transaction(async (tx) => {
    const [now] = await tx
      .select()
      .from(accessRequests)
      .where(eq(accessRequests.id, request.id))
      .for('update')
    if (now?.todo !== 'check') return
    if (refusal !== null) await refused(tx, now, refusal)
    else await begin(tx, now, preapproved, parts)
  })
}

/** What the validation webhook says; a request without one is valid. */
async function validated(
  db: Db,
  request: RequestRow,
  parts: RequestParts,
): Promise<'valid' | 'unanswered' | { refusal: string }> {
  const { validationWebhook } = request.plan
  if (validationWebhook === null) return 'valid'
  const answer = await askWebhook(db, request, validationWebhook, 'REQUEST_VALIDATION', parts)
  const event = 'APP_STORE_INLINE_WEBHOOK_REQUEST_VALIDATION_FOR_ACCESS_REQUEST'
  const said = answer.ok ? { valid: verdictOf(answer.response) } : { problem: answer.problem }
  const outcome = answer.ok ? 'Succeeded' : 'Failed'
  await db.transaction((tx) => note(tx, systemOf(request), request, event, said, outcome))
  if (!answer.ok) return 'unanswered'
  if (verdictOf(answer.response) !== false) return 'valid'
  const { reason } = answer.response
  const words =
    typeof reason === 'string' ? keptText(reason, 1000) : 'The validation webhook said no'
  return { refusal: words }
}

/** What it says, where it says it: nothing else of an answer gets into the log. */
const verdictOf = ({ valid }: Record<string, unknown>): boolean | null =>
  typeof valid === 'boolean' ? valid : null

/** The justification of the first rule whose webhooks all say `approved: true`. */
async function preapprovedBy(
  db: Db,
  request: RequestRow,
  parts: RequestParts,
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
