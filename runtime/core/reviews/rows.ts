/** Reviews and their apps: found, locked, moved, and named in the log. */

import { and, eq } from 'drizzle-orm'
import { notFound } from '../../contract/errors/problem.ts'
import type { ReviewAppStatus, ReviewStatus } from '../../contract/models/access-review.ts'
import type { Db } from '../../database/database.ts'
import { accessReviewApps, accessReviews } from '../../database/schema/reviews.ts'
import { one } from '../../database/written.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'
import { isId } from '../kernel/id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { keptText } from '../kernel/kept-text.ts'
import { appMayBecome, reviewMayBecome } from './states.ts'

export type ReviewRow = typeof accessReviews.$inferSelect
export type ReviewAppRow = typeof accessReviewApps.$inferSelect

type Asker = Pick<Principal, 'domainId'>

/** @throws CoreError 404, for a deleted one too. */
export async function findReview(
  db: Db,
  { domainId }: Asker,
  id: string,
  locked = false,
): Promise<ReviewRow> {
  const question = db
    .select()
    .from(accessReviews)
    .where(and(eq(accessReviews.id, id), eq(accessReviews.domainId, domainId)))
  const [row] = isId(id) ? await (locked ? question.for('update') : question) : []
  if (!row || row.status === 'DELETED') throw notFound('Access review')
  return row
}

/** An app of a review. @throws CoreError 404, for a deleted one too. */
export async function findReviewApp(
  db: Db,
  { id: reviewId }: Pick<ReviewRow, 'id'>,
  id: string,
  locked = false,
): Promise<ReviewAppRow> {
  const question = db
    .select()
    .from(accessReviewApps)
    .where(and(eq(accessReviewApps.id, id), eq(accessReviewApps.reviewId, reviewId)))
  const [row] = isId(id) ? await (locked ? question.for('update') : question) : []
  if (!row || row.status === 'DELETED') throw notFound('App of the access review')
  return row
}

/** A review for the background, locked until the transaction ends; null once it is gone. */
export async function lockReview(tx: Db, id: string): Promise<ReviewRow | null> {
  const [row] = await tx.select().from(accessReviews).where(eq(accessReviews.id, id)).for('update')
  return row ?? null
}

export async function lockReviewApp(tx: Db, id: string): Promise<ReviewAppRow | null> {
  const [row] = await tx
    .select()
    .from(accessReviewApps)
    .where(eq(accessReviewApps.id, id))
    .for('update')
  return row ?? null
}

/** Moves a locked review. @throws Error for a move that REVIEW_STATES does not have */
export async function moveReview(
  tx: Db,
  review: ReviewRow,
  to: ReviewStatus,
  values: Partial<ReviewRow> = {},
): Promise<ReviewRow> {
  if (!reviewMayBecome(review.status, to))
    throw new Error(`an access review that is ${review.status} cannot become ${to}`)
  const row = one(
    await tx
      .update(accessReviews)
      .set({ ...values, status: to })
      .where(eq(accessReviews.id, review.id))
      .returning(),
  )
  return row
}

/** Moves a locked app of a review. @throws Error for a move that REVIEW_APP_STATES does not have */
export async function moveReviewApp(
  tx: Db,
  arda: ReviewAppRow,
  to: ReviewAppStatus,
  values: Partial<ReviewAppRow> = {},
): Promise<ReviewAppRow> {
  if (!appMayBecome(arda.status, to))
    throw new Error(`an app of an access review that is ${arda.status} cannot become ${to}`)
  const row = one(
    await tx
      .update(accessReviewApps)
      .set({ ...values, status: to })
      .where(eq(accessReviewApps.id, arda.id))
      .returning(),
  )
  return row
}

/** In whose name the host itself acts. */
export const systemOf = ({ domainId }: Asker): Actor => ({ domainId, userId: null })

/** Records what happened to a review. */
export const note = (
  tx: Db,
  actor: Actor,
  { id, name }: Pick<ReviewRow, 'id' | 'name'>,
  what: string,
  metadata: Record<string, unknown>,
): Promise<void> =>
  recordActivity(
    tx,
    actor,
    `ACCESS_REVIEW_${what}`,
    [{ target_type: 'AccessReview', name: keptText(name, 200), id }],
    metadata,
  )
