/** Progress of a review. */

import { asc, inArray, sql } from 'drizzle-orm'
import type { AccessReviewProgress } from '../../contract/models/review-item.ts'
import type { Db } from '../../database/database.ts'
import { accessReviewAssignments, type ReviewAppRow } from '../../database/schema/reviews.ts'
import { appsOf } from '../catalogue/apps/apps.ts'
import { idsOf } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { appsOfReview } from './add-apps.ts'
import { BULK } from './decide.ts'
import { UNDECIDED } from './machine/states.ts'
import { findReview } from './rows.ts'

type Count = { arda_id: string; assignment_id: string | null; state: string; n: number }

/** Returns the progress of a review. @throws CoreError not_found */
export async function reviewProgress(
  db: Db,
  principal: Principal,
  id: string,
): Promise<AccessReviewProgress> {
  const review = await findReview(db, principal, id)
  const reviewApps = await appsOfReview(db, review.id)
  const counts = await countsOf(db, reviewApps)
  const names = new Map(
    (
      await appsOf(
        db,
        reviewApps.map(({ appId }) => appId),
      )
    ).map((app) => [app.id, app.name]),
  )
  const reviewers = await reviewersIn(db, reviewApps, counts)
  return {
    states: byState(counts),
    ...(await speedOf(db, review.id)),
    apps: reviewApps.map((reviewApp) => ({
      arda_id: reviewApp.id,
      app_id: reviewApp.appId,
      app_name: names.get(reviewApp.appId) ?? '',
      status: reviewApp.status,
      problem: reviewApp.problem,
      population: populationOf(reviewApp),
      states: byState(counts.filter((one) => one.arda_id === reviewApp.id)),
      reviewers: reviewers.get(reviewApp.id) ?? [],
    })),
  }
}

const isUndecided = (state: string): boolean => UNDECIDED.some((one) => one === state)

async function countsOf(db: Db, reviewApps: readonly ReviewAppRow[]): Promise<Count[]> {
  if (reviewApps.length === 0) return []
  const { rows } = await db.execute<Count>(sql`
    select arda_id, assignment_id, state, count(*)::int as n from access_review_items
    where arda_id = any(${sql.param(idsOf(reviewApps))}::uuid[]) group by 1, 2, 3`)
  return rows
}

function byState(counts: readonly Count[]): Record<string, number> {
  const sum: Record<string, number> = {}
  for (const { state, n } of counts) sum[state] = (sum[state] ?? 0) + n
  return sum
}

/** Converts the population of an app to its wire format. */
export function populationOf({ population }: ReviewAppRow) {
  if (population === null) return null
  const { connectorVersion, connectorDigest, leftOut, ...same } = population
  return {
    ...same,
    connector_version: connectorVersion,
    connector_digest: connectorDigest,
    left_out: leftOut,
  }
}

async function reviewersIn(db: Db, reviewApps: readonly ReviewAppRow[], counts: readonly Count[]) {
  const found = new Map<string, AccessReviewProgress['apps'][number]['reviewers']>()
  if (reviewApps.length === 0) return found
  const rows = await db
    .select()
    .from(accessReviewAssignments)
    .where(inArray(accessReviewAssignments.reviewAppId, idsOf(reviewApps)))
    .orderBy(asc(accessReviewAssignments.createdAt), asc(accessReviewAssignments.id))
  const byAssignment = Map.groupBy(counts, (one) => one.assignment_id)
  for (const row of rows) {
    const own = byAssignment.get(row.id) ?? []
    const lines = own.reduce((sum, { n }) => sum + n, 0)
    // All of its lines were reassigned.
    if (lines === 0) continue
    const open = own.reduce((sum, { n, state }) => (isUndecided(state) ? sum + n : sum), 0)
    const { userIds: user_ids, groupIds: group_ids, taskId: task_id, why } = row
    const list = found.get(row.reviewAppId) ?? []
    list.push({ user_ids, group_ids, task_id, why, lines, open })
    found.set(row.reviewAppId, list)
  }
  return found
}

/** Returns the share of bulk decisions, and the median pause between acts of one person in seconds. */
async function speedOf(db: Db, reviewId: string) {
  const { rows } = await db.execute<{ bulk: number | null; seconds: number | null }>(sql`
    with acts as (
      select id, items, user_id, created_at,
        extract(epoch from created_at - lag(created_at) over (partition by user_id order by created_at, id)) as pause
      from access_review_acts where review_id = ${reviewId} and user_id is not null
    ), decided as (
      select a.items from access_review_items i join acts a on a.id = i.act_id where i.review_id = ${reviewId}
    )
    select (select (count(*) filter (where items > ${BULK}))::float8 / nullif(count(*), 0) from decided) as bulk,
      (select percentile_cont(0.5) within group (order by pause) from acts where pause is not null)::float8 as seconds`)
  return { bulk_share: rows[0]?.bulk ?? null, median_seconds: rows[0]?.seconds ?? null }
}
