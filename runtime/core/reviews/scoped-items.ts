/**
 * Selection of a review's lines by scope filters. Data stored in a line is as of the launch. Other data, such
 * as groups of a person and requests that granted the line, is current.
 */
import { type SQL, sql } from 'drizzle-orm'
import { badRequest } from '../../contract/errors/problem.ts'
import type { ScopeFilter } from '../../contract/models/review-scope.ts'
import { accessReviewItems as items, type ReviewRow } from '../../database/schema/reviews.ts'
import { scopeFault, scopeGroups } from './scope.ts'
import { GIVEN } from './snapshot.ts'

/** Condition that the app `b` was launched before the app of the line. */
const EARLIER = sql`b.launched_at < (select t.launched_at from access_review_apps t where t.id = ${items.reviewAppId})`

/** Start of the account's last span that began before the launch. */
const SINCE = sql`(select max(s.since) from account_spans s where s.account_id = ${items.accountId}
  and s.since <= (select t.launched_at from access_review_apps t where t.id = ${items.reviewAppId}))`

/**
 * Condition on lines that match one filter of each group, or no condition without filters.
 *
 * @throws CoreError `bad_request` for an invalid value
 */
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
