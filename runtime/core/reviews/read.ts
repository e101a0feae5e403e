/** Access reviews in their wire format. */

import { and, asc, eq, inArray, max, ne } from 'drizzle-orm'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import type {
  AccessReviewDomainAppOutput,
  AccessReviewOutput,
} from '../../contract/models/access-review.ts'
import { type Db, one } from '../../database/database.ts'
import {
  accessReviewApps,
  accessReviews,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { syncRuns } from '../../database/schema/sync.ts'
import { appsOf } from '../catalogue/apps/apps.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { orderOf } from '../kernel/list/order.ts'
import { selectPage } from '../kernel/list/page.ts'
import { findReview } from './rows.ts'

const SORTED = {
  created: accessReviews.createdAt,
  name: accessReviews.name,
  deadline: accessReviews.deadlineAt,
}

/** Lists reviews without deleted ones, newest first unless another order is requested. */
export async function listReviews(
  db: Db,
  { domainId }: Principal,
  query: QueryOf<'list_access_reviews'>,
) {
  const where = and(eq(accessReviews.domainId, domainId), ne(accessReviews.status, 'DELETED'))
  const order = orderOf(SORTED, query.sort ?? '-created', accessReviews.id)
  return selectPage(db, accessReviews, { where, order }, query, (rows) => toReviews(db, rows))
}

/** Returns a review in its wire format. @throws CoreError not_found */
export async function getReview(
  db: Db,
  principal: Principal,
  id: string,
): Promise<AccessReviewOutput> {
  return toReview(db, await findReview(db, principal, id))
}

/** Converts a review to its wire format. */
export async function toReview(db: Db, row: ReviewRow): Promise<AccessReviewOutput> {
  return one(await toReviews(db, [row]))
}

async function toReviews(db: Db, rows: readonly ReviewRow[]): Promise<AccessReviewOutput[]> {
  if (rows.length === 0) return []
  const of = rows.map(({ id }) => id)
  const reviewApps = await db
    .select()
    .from(accessReviewApps)
    .where(and(inArray(accessReviewApps.reviewId, of), ne(accessReviewApps.status, 'DELETED')))
    .orderBy(asc(accessReviewApps.createdAt), asc(accessReviewApps.id))
  const shown = await toReviewApps(db, reviewApps)
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    status: row.status,
    creation_path: row.creationPath,
    owner_id: row.ownerId,
    created_by_id: row.createdById,
    deadline_at: row.deadlineAt.toISOString(),
    started_at: iso(row.startedAt),
    completed_at: iso(row.completedAt),
    target_launch_date: iso(row.targetLaunchDate),
    recurrence_config: row.recurrence,
    recurrence_days_frequency: row.recurrenceDays,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    apps: shown.filter((_, index) => reviewApps[index]?.reviewId === row.id),
  }))
}

/** Converts apps of reviews to their wire format, in order. */
export async function toReviewApps(
  db: Db,
  reviewApps: readonly ReviewAppRow[],
): Promise<AccessReviewDomainAppOutput[]> {
  const ids = [...new Set(reviewApps.map(({ appId }) => appId))]
  if (ids.length === 0) return []
  const known = new Map((await appsOf(db, ids)).map((app) => [app.id, app]))
  const synced = new Map(
    (
      await db
        .select({ appId: syncRuns.appId, at: max(syncRuns.endedAt) })
        .from(syncRuns)
        .where(and(inArray(syncRuns.appId, ids), eq(syncRuns.state, 'SUCCEEDED')))
        .groupBy(syncRuns.appId)
    ).map(({ appId, at }) => [appId, at]),
  )
  return reviewApps.map((reviewApp) => ({
    id: reviewApp.id,
    domain_app_id: reviewApp.appId,
    domain_app_name: known.get(reviewApp.appId)?.name ?? '',
    domain_app_sources: known.get(reviewApp.appId)?.sources ?? [],
    status: reviewApp.status,
    review_type: reviewApp.reviewType,
    app_last_synced_at: iso(synced.get(reviewApp.appId) ?? null),
    last_synced_at: reviewApp.population?.at ?? null,
    account_count: reviewApp.accountCount,
    launched_at: iso(reviewApp.launchedAt),
    completed_at: iso(reviewApp.completedAt),
    scope_filters: reviewApp.scope,
  }))
}

/** Formats a time in ISO 8601, or returns null. */
export const iso = (at: Date | null): string | null => at?.toISOString() ?? null
