/** A review of an app in progress, as its launch would leave it; the operator decides its lines. */
import { sql } from 'drizzle-orm'
import {
  accessReviewApps,
  accessReviewAssignments,
  accessReviewItems,
  accessReviews,
} from '../../runtime/database/schema/reviews.ts'
import { type CoreHost, domainOf } from '../core/host.ts'

/** @param name End of the name of the review, and label of its lines. */
export async function reviewWithLines(
  { db }: Pick<CoreHost, 'db'>,
  appId: string,
  count: number,
  name: string,
): Promise<string> {
  const domainId = await domainOf(db)
  const { rows: admins } = await db.execute<{ id: string }>(
    sql`select id from users where email = 'admin@localhost'`,
  )
  const [review] = await db
    .insert(accessReviews)
    .values({
      domainId,
      name: `${count} ${name}`,
      status: 'IN_PROGRESS',
      deadlineAt: new Date('2999-01-01'),
    })
    .returning()
  const reviewId = review?.id ?? ''
  const of = { domainId, reviewId, appId }
  const [reviewApp] = await db
    .insert(accessReviewApps)
    .values({ ...of, reviewType: 'ENTITLEMENTS', status: 'IN_PROGRESS' })
    .returning()
  const reviewAppId = reviewApp?.id ?? ''
  const [assigned] = await db
    .insert(accessReviewAssignments)
    .values({
      domainId,
      reviewAppId: reviewAppId,
      userIds: [admins[0]?.id ?? ''],
      groupIds: [],
      why: 'MANAGER',
    })
    .returning()
  const one = {
    ...of,
    reviewAppId: reviewAppId,
    assignmentId: assigned?.id,
    accountType: 'USER',
    label: name,
  }
  for (let at = 0; at < count; at += 1)
    await db.insert(accessReviewItems).values({
      ...{ ...one, account: `u${at}`, accountId: reviewAppId, hints: ['NOBODY_ASKED'], place: at },
    })
  return reviewId
}
