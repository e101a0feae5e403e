/** Lines of the evidence of a review. Read in one transaction with one snapshot, a page of rows at a time. */
import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { apps } from '../../../database/schema/apps.ts'
import {
  accessReviewActs,
  accessReviewApps,
  accessReviewAssignments,
  accessReviewDecisions,
  accessReviewItems,
  type ItemRow,
  type ReviewRow,
} from '../../../database/schema/reviews.ts'
import { toItem } from '../items.ts'
import { populationOf } from '../progress.ts'
import { iso, toReview } from '../read.ts'
import { uploadLines } from '../uploads.ts'
import { type EvidenceKind, FORM } from './form.ts'
import { chainHeadOf, logLines } from './log-lines.ts'
import { askedTasks, notificationLines } from './notifications.ts'

/** Line of evidence. */
export type EvidenceLine = { kind: EvidenceKind; content: Record<string, unknown> }

/** Number of rows read at once. Their lines are made without yielding. */
const PAGE = 250

/** Returns a line of evidence. */
export const evidenceLine = (
  kind: EvidenceKind,
  content: Record<string, unknown>,
): EvidenceLine => ({
  kind,
  content,
})

/** Returns all lines but the page and the seal, in order. */
export async function* evidenceLines(
  tx: Db,
  review: ReviewRow,
  takenAt: Date,
): AsyncGenerator<EvidenceLine> {
  yield await reviewLine(tx, review, takenAt)
  yield* people(tx, review)
  yield* groups(tx, review)
  yield* appLines(tx, review)
  yield* reviewers(tx, review)
  for await (const content of notificationLines(tx, review))
    yield evidenceLine('notification', content)
  yield* acts(tx, review)
  const chain = await chainHeadOf(tx, review)
  yield evidenceLine('chain', chain)
  yield* items(tx, review)
  for await (const content of uploadLines(tx, review)) yield evidenceLine('upload', content)
  for await (const content of logLines(tx, { ...review, ids: [review.id] }))
    yield evidenceLine('log', content)
}

async function reviewLine(tx: Db, row: ReviewRow, takenAt: Date): Promise<EvidenceLine> {
  const { apps: _, ...review } = await toReview(tx, row)
  return evidenceLine('review', {
    ...{ form: FORM, taken_at: takenAt.toISOString(), final: row.status === 'COMPLETED' },
    ...{ domain_id: row.domainId, review },
    ...{ reviewers: row.reviewers, on_deadline: row.onDeadline, closed_at: iso(row.closedAt) },
  })
}

/** Returns the rows of pages of at most PAGE rows each. `last` is the last row of the previous page. */
async function* paged<R>(ask: (last: R | null) => Promise<R[]>): AsyncGenerator<R> {
  let last: R | null = null
  for (;;) {
    const page: R[] = await ask(last)
    yield* page
    last = page.at(-1) ?? null
    if (page.length < PAGE) return
  }
}

/** Returns the people involved in the review. Subjects of lines are in their items. */
function people(tx: Db, { id, ownerId, createdById }: ReviewRow) {
  return named('person', async (last) => {
    const { rows } = await tx.execute<Named>(sql`
      select id, email, trim(given_name || ' ' || family_name) as name from users
      where id > ${last}::uuid and id in (
        select unnest(array[${ownerId}::uuid, ${createdById}::uuid])
        union select user_id from access_review_acts where review_id = ${id}
        union select user_id from access_review_uploads where review_id = ${id}
        union select user_id from task_assignees where task_id in (${askedTasks(id)})
        union select user_id from mails where about in (select task_id::text from (${askedTasks(id)}) asked)
        union select unnest(user_ids || by_id) from access_review_assignments
          where arda_id in (select id from access_review_apps where review_id = ${id}))
      order by id limit ${PAGE}`)
    return rows
  })
}

function groups(tx: Db, { id }: ReviewRow) {
  return named('group', async (last) => {
    const { rows } = await tx.execute<Named>(sql`
      select id, name from groups where id > ${last}::uuid and id in (
        select unnest(group_ids) from access_review_assignments
        where arda_id in (select id from access_review_apps where review_id = ${id}))
      order by id limit ${PAGE}`)
    return rows
  })
}

type Named = { id: string; name: string; email?: string }

/** Smallest id, which no object has. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

async function* named(
  kind: EvidenceKind,
  ask: (last: string) => Promise<Named[]>,
): AsyncGenerator<EvidenceLine> {
  for await (const row of paged<Named>((last) => ask(last?.id ?? NO_ID)))
    yield evidenceLine(kind, row)
}

/** Returns the apps of the review, including removed ones. */
async function* appLines(tx: Db, { id }: ReviewRow): AsyncGenerator<EvidenceLine> {
  const rows = await tx
    .select({ reviewApp: accessReviewApps, name: apps.name })
    .from(accessReviewApps)
    .innerJoin(apps, eq(apps.id, accessReviewApps.appId))
    .where(eq(accessReviewApps.reviewId, id))
    .orderBy(asc(accessReviewApps.createdAt), asc(accessReviewApps.id))
  for (const { reviewApp, name } of rows)
    yield evidenceLine('app', {
      ...{ arda_id: reviewApp.id, app_id: reviewApp.appId, name, status: reviewApp.status },
      ...{
        review_type: reviewApp.reviewType,
        scope: reviewApp.scope,
        removal_action: reviewApp.removalAction,
      },
      second_reviewers: reviewApp.secondReviewers,
      ...{ population: populationOf(reviewApp), problem: reviewApp.problem },
      launched_at: iso(reviewApp.launchedAt),
      decided_at: iso(reviewApp.removalAt),
      completed_at: iso(reviewApp.completedAt),
    })
}

async function* reviewers(tx: Db, { id: reviewId }: ReviewRow): AsyncGenerator<EvidenceLine> {
  const { id, reviewAppId } = accessReviewAssignments
  const rows = paged<typeof accessReviewAssignments.$inferSelect>((last) =>
    tx
      .select()
      .from(accessReviewAssignments)
      .where(
        and(
          sql`${reviewAppId} in (select id from access_review_apps where review_id = ${reviewId})`,
          last === null ? undefined : gt(id, last.id),
        ),
      )
      .orderBy(asc(id))
      .limit(PAGE),
  )
  for await (const row of rows)
    yield evidenceLine('reviewers', {
      ...{ id: row.id, arda_id: row.reviewAppId, user_ids: row.userIds, group_ids: row.groupIds },
      ...{ why: row.why, by_id: row.byId, at: iso(row.createdAt) },
    })
}

async function* acts(tx: Db, { id: reviewId }: ReviewRow): AsyncGenerator<EvidenceLine> {
  const { id, createdAt } = accessReviewActs
  // Compared as text, because the database stores times more precisely than JavaScript.
  const at = sql<string>`${createdAt}::text`
  const rows = paged<{ act: typeof accessReviewActs.$inferSelect; at: string }>((last) =>
    tx
      .select({ act: accessReviewActs, at })
      .from(accessReviewActs)
      .where(
        and(
          eq(accessReviewActs.reviewId, reviewId),
          last === null
            ? undefined
            : sql`(${createdAt}, ${id}) > (${last.at}::timestamptz, ${last.act.id}::uuid)`,
        ),
      )
      .orderBy(asc(createdAt), asc(id))
      .limit(PAGE),
  )
  for await (const { act } of rows)
    yield evidenceLine('act', {
      ...{ id: act.id, by_id: act.userId, decision: act.decision, reason: act.reason },
      ...{ filter: act.filter, items: act.items, at: iso(act.createdAt) },
    })
}

async function* items(tx: Db, { id: reviewId }: ReviewRow): AsyncGenerator<EvidenceLine> {
  let last = 0
  for (;;) {
    const { place } = accessReviewItems
    const page = await tx
      .select()
      .from(accessReviewItems)
      .where(and(eq(accessReviewItems.reviewId, reviewId), gt(place, last)))
      .orderBy(asc(place))
      .limit(PAGE)
    const decisions = await decisionsOf(tx, page)
    for (const row of page)
      yield evidenceLine('item', itemContent(row, decisions.get(row.id) ?? []))
    last = page.at(-1)?.place ?? last
    if (page.length < PAGE) return
  }
}

type Decision = { act: string; decision: string; by_id: string | null; at: string | null }

/** Returns all decisions on some items, in order. */
async function decisionsOf(tx: Db, page: readonly ItemRow[]): Promise<Map<string, Decision[]>> {
  const { actId, itemId } = accessReviewDecisions
  const ids = page.flatMap(({ id, actId: last }) => (last === null ? [] : [id]))
  const found = new Map<string, Decision[]>()
  if (ids.length === 0) return found
  const rows = await tx
    .select({ itemId, act: accessReviewActs })
    .from(accessReviewDecisions)
    .innerJoin(accessReviewActs, eq(accessReviewActs.id, actId))
    .where(inArray(itemId, ids))
    .orderBy(asc(accessReviewActs.createdAt), asc(accessReviewActs.id))
  for (const { itemId: item, act } of rows) {
    const { id, decision, userId: by_id, createdAt } = act
    const list = found.get(item) ?? []
    list.push({ act: id, decision, by_id, at: iso(createdAt) })
    found.set(item, list)
  }
  return found
}

function itemContent(row: ItemRow, decisions: Decision[]): Record<string, unknown> {
  const { reviewer_user_ids: _users, reviewer_group_ids: _groups, ...item } = toItem(row, undefined)
  return {
    ...item,
    ...{ place: row.place, resource_type: row.resourceType, reviewers: row.assignmentId },
    ...{ decisions, attempts: row.attempts, sent_at: iso(row.sentAt), readings: row.readings },
  }
}
