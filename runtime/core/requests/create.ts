/** Making access requests: from a person or a policy, for a person, each for one thing. */

import { conflict } from '../../contract/errors/problem.ts'
import { type Db, one } from '../../database/database.ts'
import type { PermissionRow } from '../../database/schema/app_store.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import type { ApprovalPlan, RequestRow } from '../../database/schema/requests.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import type { Actor } from '../kernel/audit/activity.ts'
import { later } from '../kernel/jobs/tries.ts'
import { apply } from './apply.ts'
import { firstDeciders } from './approvers.ts'
import { beginDecisions, grantBreakGlass } from './decide.ts'
import { dutiesOf } from './duties.ts'
import type { RequestMeans } from './job-key.ts'
import { DECISION_MS, UNDECIDABLE } from './machine/deciding.ts'
import { fittingRules } from './preapproved.ts'
import { recordRequest } from './record.ts'

type NewRequest = {
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
  /** Whether it is taken: given at once, and reviewed afterwards. */
  isBreakGlass?: boolean
  /** Why nobody needs to be asked, where that is known already. */
  preapproved: string | null
}

/**
 * Makes a request and goes on with it as far as the database goes.
 *
 * @throws CoreError conflict where nobody could ever decide on it, or a rule of separation of duties blocks it
 */
export async function createRequest(
  tx: Db,
  actor: Actor,
  wanted: NewRequest,
  means: RequestMeans,
): Promise<RequestRow> {
  const { app, permission, justification, preapproved: _, ...values } = wanted
  const now = await means.now(tx)
  const duties = await dutiesOf(tx, wanted)
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
  // Of a policy: what people ask for was refused above.
  if (duties.verdict === 'BLOCK') {
    const because = 'separation of duties'
    const denied = { note: duties.words, because, decision: null, isBlocked: true }
    return apply(tx, request, { kind: 'denied', ...denied }, means, now)
  }
  if (request.isBreakGlass) return grantBreakGlass(tx, request, actor, means)
  if (preapproved !== null) return beginDecisions(tx, request, preapproved, means)
  const rules = await fittingRules(tx, request)
  const plain = rules.find(({ webhooks }) => webhooks.length === 0)
  const asks = request.plan.validationWebhook !== null || (!plain && rules.length > 0)
  // A rule that webhooks decide may say yes without anybody.
  const isAsked = request.requesterId !== null && rules.length === 0
  const first = isAsked ? await firstDeciders(tx, request) : null
  if (isAsked && first === null)
    throw conflict(`${UNDECIDABLE}; a pre-approval rule that covers it needs nobody`)
  if (!asks) return beginDecisions(tx, request, plain?.justification ?? null, means, { first })
  return apply(tx, request, { kind: 'check_required' }, means, now)
}
