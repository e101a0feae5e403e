/** Making access requests: of somebody, for somebody, each with one thing in it. */

import { CoreError } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import type { ApprovalPlan } from '../../database/schema/requests.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import type { AppRow } from '../catalogue/apps/apps.ts'
import type { PermissionRow } from '../catalogue/store/permission-base.ts'
import type { Actor } from '../kernel/audit/activity.ts'
import { firstDeciders } from './approvers.ts'
import { begin, DECISION_MS, UNDECIDABLE } from './decide.ts'
import { look, type RequestMeans } from './job-key.ts'
import { change, later, note, type RequestRow } from './move.ts'
import { fittingRules } from './preapproved.ts'

export type NewRequest = {
  app: AppRow
  /** Null for access to the app itself. */
  permission: PermissionRow | null
  plan: ApprovalPlan
  /** Null where nobody asked. */
  requesterId: string | null
  targetUserId: string
  policyId: string | null
  /** What the policy wants by it; null where people asked. */
  policyFor: string | null
  expirationInSeconds: number | null
  justification: string | null
  /** Why nobody needs to be asked, where that is known already. */
  preapproved: string | null
}

/**
 * Makes a request and goes on with it as far as the database goes.
 *
 * @throws CoreError 409 where nobody could ever decide on it
 */
export async function createRequest(
  tx: Db,
  actor: Actor,
  wanted: NewRequest,
  means: RequestMeans,
): Promise<RequestRow> {
  const { app, permission, justification, preapproved, ...values } = wanted
  const now = await means.now(tx)
  const [row] = await tx
    .insert(accessRequests)
    .values({
      ...values,
      domainId: app.domainId,
      appId: app.id,
      carriedAppId: app.id,
      permissionId: permission?.id ?? null,
      label: permission?.label ?? null,
      status: 'PENDING',
      notes: { PENDING: justification },
      wakeAt: later(now, DECISION_MS),
      createdAt: now,
    })
    .returning()
  const request = row as RequestRow
  await note(tx, actor, request, 'APP_STORE_CREATE_ACCESS_REQUEST', {
    permission_id: permission?.id ?? null,
    expiration_in_seconds: request.expirationInSeconds,
    policy_id: request.policyId,
  })
  if (preapproved !== null) return begin(tx, request, preapproved, means)
  const rules = await fittingRules(tx, request)
  const plain = rules.find(({ webhooks }) => webhooks.length === 0)
  const asks = request.plan.validationWebhook !== null || (!plain && rules.length > 0)
  // A rule that webhooks decide may say yes without anybody.
  const isAsked = request.requesterId !== null && rules.length === 0
  const first = isAsked ? await firstDeciders(tx, request) : null
  if (isAsked && first === null)
    throw new CoreError(409, `${UNDECIDABLE}; a pre-approval rule that covers it needs nobody`)
  if (!asks) return begin(tx, request, plain?.justification ?? null, means, { first })
  return toCheck(tx, request, now, means)
}

/** Webhooks have to be asked first, which the background does. */
async function toCheck(
  tx: Db,
  request: RequestRow,
  now: Date,
  means: RequestMeans,
): Promise<RequestRow> {
  const waiting = await change(tx, request, { todo: 'check', wakeAt: now })
  await look(tx, waiting, means)
  return waiting
}
