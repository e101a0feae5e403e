/** Reviews and their apps: finding, locking and logging them. */
import { and, eq, ne, sql } from 'drizzle-orm'
import { notFound } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import {
  accessReviewApps,
  accessReviews,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'
import { isId, lockedRow, rowOfId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { type LoggedReviewEvent, recorded } from './machine/log.ts'

type Asker = Pick<Principal, 'domainId'>

/** Returns a review. @throws CoreError not_found, also for a deleted review */
export async function findReview(
  db: Db,
  { domainId }: Asker,
  id: string,
  locked = false,
): Promise<ReviewRow> {
  const row = locked
    ? await rowOfId(db, accessReviews, 'Access review', { domainId }, id, { lock: 'update' })
    : await reviewOfId(db, domainId, id)
  if (!row || row.status === 'DELETED') throw notFound('Access review')
  return row
}

/** Prepared, because every page of lines runs this query. */
const reviewById = prepared('review by id', (db) =>
  db
    .select()
    .from(accessReviews)
    .where(
      and(
        eq(accessReviews.id, sql.placeholder('id')),
        eq(accessReviews.domainId, sql.placeholder('domainId')),
      ),
    ),
)

async function reviewOfId(db: Db, domainId: string, id: string): Promise<ReviewRow | undefined> {
  return isId(id) ? (await reviewById(db, { id, domainId }))[0] : undefined
}

/** Returns an app of a review. @throws CoreError not_found, also for a deleted one */
export async function findReviewApp(
  db: Db,
  review: Pick<ReviewRow, 'id' | 'domainId'>,
  id: string,
  locked: boolean,
): Promise<ReviewAppRow> {
  const row = await rowOfId(db, accessReviewApps, 'App of the access review', review, id, {
    lock: locked && 'update',
    where: eq(accessReviewApps.reviewId, review.id),
  })
  if (row.status === 'DELETED') throw notFound('App of the access review')
  return row
}

/** Returns a review, locked until the transaction ends, or null if it no longer exists. */
export const lockReview = (tx: Db, id: string): Promise<ReviewRow | null> =>
  lockedRow(tx, accessReviews, id)

/** Returns an app of a review, locked until the transaction ends, or null if it no longer exists. */
export const lockReviewApp = (tx: Db, id: string): Promise<ReviewAppRow | null> =>
  lockedRow(tx, accessReviewApps, id)

/** Returns an app of a review, locked, while people decide; null before its launch or after decisions. */
export async function lockDeciding(tx: Db, id: string): Promise<ReviewAppRow | null> {
  const reviewApp = await lockReviewApp(tx, id)
  return reviewApp && isDeciding(reviewApp) ? reviewApp : null
}

/** Reports whether people decide on the lines of an app. */
export const isDeciding = ({ status, removalAt }: ReviewAppRow): boolean =>
  status === 'IN_PROGRESS' && removalAt === null

/** Locks the apps of a review. Code that needs both locks the apps before the review. */
export async function lockReviewApps(tx: Db, reviewId: string): Promise<void> {
  await tx
    .select({ id: accessReviewApps.id })
    .from(accessReviewApps)
    .where(and(eq(accessReviewApps.reviewId, reviewId), ne(accessReviewApps.status, 'DELETED')))
    .orderBy(accessReviewApps.createdAt, accessReviewApps.id)
    .for('update')
}

/** Logs an event of a review. */
export const noteReview = (
  tx: Db,
  actor: Actor,
  review: Pick<ReviewRow, 'id' | 'name'>,
  what: LoggedReviewEvent,
  metadata: Record<string, unknown>,
): Promise<void> => {
  const { event, targets } = recorded(review, actor, what, metadata)
  return recordActivity(tx, actor, event, targets, metadata)
}
