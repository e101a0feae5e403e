/** Creation of the next review of a recurring one, with the same apps, settings and time to decide. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessReviewApps, accessReviews, type ReviewRow } from '../../database/schema/reviews.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { appsOfReview } from './add-apps.ts'
import { sendReviewJob } from './keys.ts'
import { systemOf } from './machine/log.ts'
import { dayIn, nextOccurrence } from './recurrence.ts'
import { lockReview, noteReview } from './rows.ts'

type Deps = Pick<CoreContext, 'send' | 'now'>

/** Returns the start of a recurring review, from which its rule counts. */
const startOf = ({ targetLaunchDate, createdAt }: ReviewRow): Date => targetLaunchDate ?? createdAt

/** Returns the time to create the next review, or null for a review that does not recur. */
export const nextOf = (review: ReviewRow, after: Date): Date | null =>
  nextOccurrence({ config: review.recurrence, days: review.recurrenceDays }, startOf(review), after)

/** Creates the next review if it is due. Several that were missed while no host ran are created as one. */
export async function recur(tx: Db, id: string, deps: Deps): Promise<void> {
  const now = await deps.now(tx)
  const reviewApps = await appsOfReview(tx, id)
  const review = await lockReview(tx, id)
  if (!review?.nextAt || review.status === 'DELETED' || review.nextAt > now) return
  await tx
    .update(accessReviews)
    .set({ nextAt: nextOf(review, now) })
    .where(eq(accessReviews.id, id))
  const made = await makeNext(tx, review, review.nextAt, now)
  const apps = reviewApps.map(
    ({ domainId, appId, reviewType, scope, removalAction, evidenceUpload }) => ({
      ...{ domainId, appId, reviewType, scope, removalAction, evidenceUpload },
      ...{ reviewId: made.id, status: 'IN_PREPARATION' as const, wakeAt: now },
    }),
  )
  const added = apps.length === 0 ? [] : await tx.insert(accessReviewApps).values(apps).returning()
  await noteReview(tx, systemOf(review), made, 'CREATED', {
    ...{ follows_id: review.id, app_ids: added.map(({ appId }) => appId) },
  })
  await sendReviewJob(tx, { kind: 'review', id: made.id }, deps)
  for (const reviewApp of added) await sendReviewJob(tx, { kind: 'app', id: reviewApp.id }, deps)
}

/** Creates the review of an occurrence. Its name has the day and, if taken, the previous review's id. */
async function makeNext(tx: Db, review: ReviewRow, at: Date, now: Date): Promise<ReviewRow> {
  const { domainId, ownerId, createdById, reviewers, reviewerUserIds, reviewerGroupIds } = review
  const patience = review.deadlineAt.getTime() - startOf(review).getTime()
  const values = {
    ...{ domainId, ownerId, createdById, reviewers, reviewerUserIds, reviewerGroupIds },
    ...{ secondReviewers: review.secondReviewers },
    ...{ secondUserIds: review.secondUserIds, secondGroupIds: review.secondGroupIds },
    ...{ onDeadline: review.onDeadline, followsId: review.id, wakeAt: now },
    ...({ status: 'IN_PREPARATION', creationPath: 'RECURRENCE' } as const),
    deadlineAt: new Date(now.getTime() + patience),
  }
  const day = dayIn(at, review.recurrence?.tzid ?? null)
  for (const name of [day, `${day} ${review.id}`]) {
    const [made] = await tx
      .insert(accessReviews)
      .values({ ...values, name: `${review.name.slice(0, 200)} (${name})` })
      .onConflictDoNothing()
      .returning()
    if (made) return made
  }
  throw new Error('the next access review of a series has no free name')
}
