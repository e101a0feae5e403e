/** Who decides on a request after the current deciders, according to the present configuration. */
import { and, eq, inArray } from 'drizzle-orm'
import type { DecisionStep } from '../../contract/models/asking.ts'
import type { Db } from '../../database/database.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { decidersOfAll, stepsOfPlan } from '../requests/approvers.ts'
import { namesOfAll } from './decider-names.ts'

/** States in which somebody is being asked, or is about to be. */
const ASKING = ['PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL'] as const

/** People and groups who make one of the decisions. */
export type LaterStep = Pick<DecisionStep, 'deciders' | 'count'>

/**
 * Returns the decisions still to come, in order, by request id. Requests without any are left out.
 *
 * @param ids requests that the caller may see
 */
export const decidersToCome = (
  db: Db,
  principal: Principal,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly LaterStep[]>> => stepsFrom(db, principal, ids, behind)

/** Returns the deciders of the decision for which a request now waits, or null if it waits for none. */
export async function decidersNow(
  db: Db,
  principal: Principal,
  id: string,
): Promise<LaterStep | null> {
  const steps = await stepsFrom(db, principal, [id], (one) => Math.max(0, behind(one) - 1))
  return steps.get(id)?.[0] ?? null
}

/** Returns the decisions of each request, starting at the index that `first` returns. */
async function stepsFrom(
  db: Db,
  { domainId }: Principal,
  ids: readonly string[],
  first: (request: RequestRow) => number,
): Promise<ReadonlyMap<string, readonly LaterStep[]>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .select()
    .from(accessRequests)
    .where(
      and(
        inArray(accessRequests.id, [...ids]),
        eq(accessRequests.domainId, domainId),
        inArray(accessRequests.status, [...ASKING]),
      ),
    )
  const deciders = await decidersOfAll(db, rows)
  const later = rows.map((one, at) => ({
    id: one.id,
    steps: deciders[at]?.slice(first(one)) ?? [],
  }))
  const all = later.flatMap(({ steps }) => steps.map((one) => one ?? { users: [], groups: [] }))
  const told = (await namesOfAll(db, all)).map((deciders, at) => {
    const { users = [], groups = [] } = all[at] ?? {}
    return { deciders, count: users.length + groups.length }
  }) satisfies LaterStep[]
  return new Map(
    later.flatMap(({ id, steps }) =>
      steps.length > 0 ? [[id, told.splice(0, steps.length)] as const] : [],
    ),
  )
}

/** Returns the number of decisions of a request that are made or in progress. */
function behind({ status, stage, plan }: RequestRow): number {
  const now = status === 'PENDING_APPROVAL' ? stage : 'manager'
  return stepsOfPlan(plan).indexOf(now) + 1
}
