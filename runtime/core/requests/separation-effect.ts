/** Effect of rules of separation of duties on a new request. */
import type { OnRequest } from '../../contract/models/separation.ts'
import type { Db } from '../../database/database.ts'
import type { PermissionRow } from '../../database/schema/app_store.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import type { ApprovalPlan, PeopleAndGroups } from '../../database/schema/requests.ts'
import { conflictsOfNew } from '../separation/check.ts'
import { strictest } from '../separation/rules.ts'

type Duties = {
  /** Verdict of the strictest rule that the request would break, or null if it breaks none. */
  verdict: OnRequest | null
  /** Ids of those rules. */
  rules: string[]
  /** Reason of the refusal, and what to do. */
  words: string
  plan: ApprovalPlan
}

type Rule = {
  id: string
  name: string
  onRequest: OnRequest
  approverUserIds: string[]
  approverGroupIds: string[]
}

/** Returns the effect of the rules on a new request. */
export async function separationEffectOf(
  tx: Db,
  {
    app,
    permission,
    targetUserId,
    plan,
  }: { app: AppRow; permission: PermissionRow | null; targetUserId: string; plan: ApprovalPlan },
): Promise<Duties> {
  const conflicts = await conflictsOfNew(tx, {
    ...{ domainId: app.domainId, userId: targetUserId, appId: app.id },
    ...{ permissionId: permission?.id ?? null, requestId: null },
  })
  return judged(
    plan,
    conflicts.map(({ rule }) => rule),
  )
}

/** Returns the effect, on a plan, of the rules that a request would break. Pure. */
export function judged(plan: ApprovalPlan, rules: readonly Rule[]): Duties {
  const verdict = strictest(rules)
  const names = rules.map(({ name }) => `“${name}”`).join(', ')
  const common = {
    verdict,
    rules: rules.map(({ id }) => id),
    words: `This conflicts with access that the person holds or has requested (separation of duties: ${names}); have the other side revoked first`,
  }
  if (verdict !== 'EXCEPTION') return { ...common, plan }
  const excepted = rules.filter(({ onRequest }) => onRequest === 'EXCEPTION')
  return { ...common, plan: withException(plan, excepted) }
}

const NOBODY: PeopleAndGroups = { users: [], groups: [] }

/** Appends a last stage for the exception, decided by the rules' approvers, or admins if there are none. */
function withException(plan: ApprovalPlan, rules: readonly Rule[]): ApprovalPlan {
  // A plan without approvers stands for one stage of admins, which stays.
  const usual = plan.stages.length > 0 || plan.manager ? plan.stages : [NOBODY]
  const decide = {
    users: [...new Set(rules.flatMap((one) => one.approverUserIds))],
    groups: [...new Set(rules.flatMap((one) => one.approverGroupIds))],
  }
  return { ...plan, stages: [...usual, decide], exception: rules.map(({ name }) => name) }
}
