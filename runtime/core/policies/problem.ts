/** Telling the admins, once, that a policy cannot be evaluated. */

import { and, eq, isNull, notInArray } from 'drizzle-orm'
import { keptText } from '../../contract/kept-text.ts'
import type { Db } from '../../database/database.ts'
import { userRoles, users } from '../../database/schema/people.ts'
import { accessPolicies } from '../../database/schema/policies.ts'
import { openTask } from '../tasks/open.ts'
import type { PolicyRow } from './things.ts'

/** Opens an ERROR task for a policy that has none yet; a change of the policy ends the problem. */
export async function tellProblem(
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
  await openError(
    tx,
    domainId,
    'ACCESS_POLICY_ERROR',
    `The access policy “${keptText(name, 200)}” cannot be evaluated: ${keptText(problem, 500)}`,
    'What it gave stays as it is. Change its condition with PUT /access_policies, or disable it.',
  )
}

/** Opens an ERROR task for the admins of the domain. */
export async function openError(
  tx: Db,
  domainId: string,
  taskType: string,
  description: string,
  instructions: string,
  more: { targetUserId?: string; productArea?: 'PLATFORM' | 'OFFBOARDING' } = {},
): Promise<void> {
  await openTask(
    tx,
    { domainId, userId: null },
    {
      taskType,
      taskCategory: 'ERROR',
      productArea: 'PLATFORM',
      description,
      instructions,
      ...more,
      assignees: { userIds: await adminIds(tx, domainId), groupIds: [] },
    },
  )
}

/** Admins of the domain who can sign in. */
export async function adminIds(tx: Db, domainId: string): Promise<string[]> {
  const rows = await tx
    .select({ id: users.id })
    .from(userRoles)
    .innerJoin(users, eq(users.id, userRoles.userId))
    .where(
      and(
        eq(userRoles.domainId, domainId),
        eq(userRoles.role, 'Admin'),
        notInArray(users.status, ['SUSPENDED', 'INACTIVE']),
      ),
    )
  return rows.map(({ id }) => id)
}
