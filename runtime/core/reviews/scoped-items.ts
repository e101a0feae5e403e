/**
 * Lines of a review by the filters of scopes: what a line says of itself is as it was at the launch; what it does not say,
 * such as the groups of a person and the requests that gave it, is as it is now.
 */
import { type SQL, sql } from 'drizzle-orm'
import { badRequest } from '../../contract/errors/problem.ts'
import type { ScopeFilter } from '../../contract/models/review-scope.ts'
import { accessReviewItems as items, type ReviewRow } from '../../database/schema/reviews.ts'
import { scopeFault, scopeGroups } from './scope.ts'
import { GIVEN } from './snapshot.ts'

/** The app of a line within its review, of which an earlier one was launched before. */
const EARLIER = sql`b.launched_at < (select t.launched_at from access_review_apps t where t.id = ${items.ardaId})`

/** The account of a line as it was at the launch: since when it was so. */
const SINCE = sql`(select max(s.since) from account_spans s where s.account_id = ${items.accountId}
  and s.since <= (select t.launched_at from access_review_apps t where t.id = ${items.ardaId}))`

/** A condition: lines that fit one filter of each group; none without filters. @throws CoreError bad_request for a value that cannot be used */
export function inScope(
  { domainId }: Pick<ReviewRow, 'domainId'>,
  filters: readonly ScopeFilter[] | null | undefined,
): SQL | undefined {
  if (!filters || filters.length === 0) return undefined
  const fault = scopeFault(filters)
  if (fault !== null) throw badRequest(fault)
  const of = { domainId, appId: sql`${items.appId}`, given: GIVEN, isEarlier: EARLIER }
  const fits = scopeGroups(filters, of).map((group) => sql`coalesce(${group.fits}, false)`)
  return sql`exists (select from
    (select ${items.accountId} as account_id, ${items.entitlementId} as entitlement_id, ${items.heldSince} as since) p
    cross join lateral (select ${items.domainId} as domain_id, ${items.appId} as app_id, p.account_id, ${items.userId} as user_id,
      ${items.accountEmail} as email, ${items.accountType} as account_type, ${items.accountStatus} as status, ${SINCE} as since) a
    cross join lateral (select ${items.lastLogin} as last_login, ${items.lastActivity} as last_activity,
      (select o.sources from accounts o where o.id = p.account_id) as sources,
      (select o.created_at from accounts o where o.id = p.account_id) as created_at) n
    left join users u on u.id = a.user_id
    cross join lateral (select p.entitlement_id as id, ${items.externalId} as external_id, ${items.entitlementType} as entitlement_type,
      ${items.resourceId} as resource_id, ${items.label} as label, ${items.appId} as app_id) e
    where ${sql.join(fits, sql` and `)})`
}
