/** Telling the admins, once, that a policy cannot be evaluated. */

import { and, eq, isNull } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessPolicies, type PolicyRow } from '../../database/schema/policies.ts'
import { keptText } from '../kernel/kept-text.ts'
import { openErrorTask } from '../tasks/error-task.ts'

/** Opens an ERROR task for a policy that has none yet. Changing the policy clears the problem. */
export async function openPolicyProblemTask(
  tx: Db,
  { id, name, domainId }: Pick<PolicyRow, 'id' | 'name' | 'domainId'>,
  problem: string,
): Promise<void> {
  const first = await tx
    .update(accessPolicies)
    .set({ problem: keptText(problem, 1000) })
    .where(and(eq(accessPolicies.id, id), isNull(accessPolicies.problem)))
    .returning({ id: accessPolicies.id })
  if (first.length === 0) return
  await openErrorTask(tx, domainId, {
    taskType: 'ACCESS_POLICY_ERROR',
    description: `The access policy “${keptText(name, 200)}” cannot be evaluated: ${keptText(problem, 500)}`,
    instructions:
      'Access that it gave stays as it is. Change its condition with PUT /access_policies, or disable it.',
  })
}
