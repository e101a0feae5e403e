/**
 * Requests made by a policy. The interface has no requester for them: it names the person who receives the
 * access.
 */
import { and, eq, inArray, isNull } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessPolicies } from '../../database/schema/policies.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import type { Principal } from '../kernel/identity/principal.ts'

/**
 * Returns the requests that a policy made, by id, with the name of the policy, or null if the policy was
 * deleted.
 *
 * @param ids requests that the caller may see
 */
export async function askedByPolicy(
  db: Db,
  { domainId }: Principal,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .select({ id: accessRequests.id, policy: accessPolicies.name })
    .from(accessRequests)
    .leftJoin(accessPolicies, eq(accessPolicies.id, accessRequests.policyId))
    .where(
      and(
        inArray(accessRequests.id, [...new Set(ids)]),
        eq(accessRequests.domainId, domainId),
        isNull(accessRequests.requesterId),
      ),
    )
  return new Map(rows.map(({ id, policy }) => [id, policy]))
}
