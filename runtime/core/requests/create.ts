/** Creating access requests, of a person or a policy, each for one item. */

import { conflict } from '../../contract/errors/problem.ts'
import { type Db, one } from '../../database/database.ts'
import type { PermissionRow } from '../../database/schema/app_store.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import type { ApprovalPlan, RequestRow } from '../../database/schema/requests.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import type { Actor } from '../kernel/audit/activity.ts'
import { later } from '../kernel/jobs/retry-schedules.ts'
import { apply } from './apply.ts'
import { firstDeciders } from './approvers.ts'
import { beginDecisions, grantBreakGlass } from './decide.ts'
import { DECISION_MS, UNDECIDABLE } from './machine/deciding.ts'
import { fittingRules } from './preapproved.ts'
import { recordRequest } from './record.ts'
import type { RequestDeps } from './request-deps.ts'
import { separationEffectOf } from './separation-effect.ts'

type NewRequest = {
  app: AppRow
  /** Null for access to the app itself. */
  permission: PermissionRow | null
  plan: ApprovalPlan
  /** Null for a request of a policy. */
  requesterId: string | null
  targetUserId: string
  policyId: string | null
  /** Key of the item that the policy grants; null for a request of a person. */
  policyFor: string | null
  expirationInSeconds: number | null
  justification: string | null
  /** Whether this takes a break-glass permission: granted at once, reviewed afterwards. */
  isBreakGlass?: boolean
  /** Reason that no approval is needed, if already known. */
  preapproved: string | null
}

/**
 * Creates a request and advances it as far as the database alone allows.
 *
 * @throws CoreError `conflict` if no one could ever decide on it, or a rule of separation of duties blocks it
 */
export async function createRequest(
  tx: Db,
  actor: Actor,
  wanted: NewRequest,
  deps: RequestDeps,
): Promise<RequestRow> {
  const { app, permission, justification, preapproved: _, ...values } = wanted
  const now = await deps.now(tx)
  const duties = await separationEffectOf(tx, wanted)
  if (duties.verdict === 'BLOCK' && values.requesterId !== null) throw conflict(duties.words)
  const preapproved = duties.verdict === 'EXCEPTION' ? null : wanted.preapproved
  const request = one(
    await tx
      .insert(accessRequests)
      .values({
        ...values,
        plan: duties.plan,
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
      .returning(),
  )
  const metadata = {
    permission_id: permission?.id ?? null,
    expiration_in_seconds: request.expirationInSeconds,
    policy_id: request.policyId,
    ...(duties.rules.length > 0 ? { separation_rules: duties.rules } : {}),
  }
  await recordRequest(tx, request, 'APP_STORE_CREATE_ACCESS_REQUEST', metadata, actor)
  // Only for policies: requests of people were refused above.
  if (duties.verdict === 'BLOCK') {
    const because = 'separation of duties'
    const denied = { note: duties.words, because, decision: null, isBlocked: true }
    return apply(tx, request, { kind: 'denied', ...denied }, deps, now)
  }
  if (request.isBreakGlass) return grantBreakGlass(tx, request, actor, deps)
  if (preapproved !== null) return beginDecisions(tx, request, preapproved, deps)
  const rules = await fittingRules(tx, request)
  const plain = rules.find(({ webhooks }) => webhooks.length === 0)
  const asks = request.plan.validationWebhook !== null || (!plain && rules.length > 0)
  // A rule decided by webhooks may approve it without any person.
  const isAsked = request.requesterId !== null && rules.length === 0
  const first = isAsked ? await firstDeciders(tx, request) : null
  if (isAsked && first === null)
    throw conflict(`${UNDECIDABLE}; a pre-approval rule that covers it needs no approver`)
  if (!asks) return beginDecisions(tx, request, plain?.justification ?? null, deps, { first })
  return apply(tx, request, { kind: 'check_required' }, deps, now)
}
