/** Who decides on requests after those who are asked now, as things are now. */
import { and, eq, inArray } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { decidersOf, stepsOf } from '../requests/approvers.ts'
import type { RequestRow } from '../requests/machine/request.ts'
import { namesOf } from './named.ts'

/** States in which somebody is asked, or is about to be. */
const ASKING = ['PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL'] as const

/** Those who make one of the decisions, by name. */
export type LaterStep = { names: readonly string[]; more: number }

/**
 * The decisions that are still to come, in order, by the id of the request; requests without any are left out.
 *
 * @param ids Of requests that the caller sees.
 */
export async function decidersToCome(
  db: Db,
  { domainId }: Principal,
  ids: readonly string[],
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
  const all = new Map<string, readonly LaterStep[]>()
  for (const request of rows) {
    const later: LaterStep[] = []
    for (const step of laterSteps(request)) {
      const who = (await decidersOf(db, request, step)) ?? { users: [], groups: [] }
      const names = (await namesOf(db, who)).map(({ name, email }) => name || email || '')
      later.push({ names, more: who.users.length + who.groups.length - names.length })
    }
    if (later.length > 0) all.set(request.id, later)
  }
  return all
}

function laterSteps({ status, stage, plan }: RequestRow) {
  const steps = stepsOf(plan)
  const now = status === 'PENDING_APPROVAL' ? stage : 'manager'
  return steps.slice(steps.indexOf(now) + 1)
}
