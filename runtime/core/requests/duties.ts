/** What rules of separation of duties make of a new request. */
import type { OnRequest } from '../../contract/models/separation.ts'
import type { Db } from '../../database/database.ts'
import type { PermissionRow } from '../../database/schema/app_store.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import type { ApprovalPlan, Approvers } from '../../database/schema/requests.ts'
import { conflictsOfNew } from '../separation/check.ts'
import { strictest } from '../separation/rules.ts'

type Duties = {
  /** Of the strictest rule that it would break; null where it breaks none. */
  verdict: OnRequest | null
  /** Ids of those rules. */
  rules: string[]
  /** Why it is refused, and what to do. */
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

export async function dutiesOf(
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

/** What the rules that a request would break make of its plan. Pure. */
export function judged(plan: ApprovalPlan, rules: readonly Rule[]): Duties {
  const verdict = strictest(rules)
  const names = rules.map(({ name }) => `“${name}”`).join(', ')
  const common = {
    verdict,
    rules: rules.map(({ id }) => id),
    words: `The person must not hold this together with what they hold or have asked for (separation of duties: ${names}); have the other side taken back first`,
  }
  if (verdict !== 'EXCEPTION') return { ...common, plan }
  const excepted = rules.filter(({ onRequest }) => onRequest === 'EXCEPTION')
  return { ...common, plan: withException(plan, excepted) }
}

const NOBODY: Approvers = { users: [], groups: [] }

/** Behind all other decisions one more: that of those who decide on exceptions, who are the admins where none are named. */
function withException(plan: ApprovalPlan, rules: readonly Rule[]): ApprovalPlan {
  // A plan without anybody stands for one stage of admins, which stays.
  const usual = plan.stages.length > 0 || plan.manager ? plan.stages : [NOBODY]
  const decide = {
    users: [...new Set(rules.flatMap((one) => one.approverUserIds))],
    groups: [...new Set(rules.flatMap((one) => one.approverGroupIds))],
  }
  return { ...plan, stages: [...usual, decide], exception: rules.map(({ name }) => name) }
}
