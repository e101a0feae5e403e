/** Reviewers of a review and its action at the deadline, which the public service's calls do not cover. */

import { and, eq, inArray } from 'drizzle-orm'
import { badRequest, notFound } from '../../contract/errors/problem.ts'
import type { AccessReviewSettingsInput } from '../../contract/models/review-item.ts'
import { type Db, one } from '../../database/database.ts'
import { groups, users } from '../../database/schema/people.ts'
import { accessReviews, type ReviewRow } from '../../database/schema/reviews.ts'
import { distinctIds, isId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { requireUnfinished } from './create.ts'
import { findReview, noteReview } from './rows.ts'

/** Returns the settings of a review. @throws CoreError not_found */
export async function getReviewSettings(db: Db, principal: Principal, id: string) {
  return toSettings(await findReview(db, principal, id))
}

/** Changes the settings, for apps that are launched afterwards. @throws CoreError bad_request, not_found */
export async function putReviewSettings(
  db: Db,
  principal: Principal,
  id: string,
  body: AccessReviewSettingsInput,
) {
  return db.transaction(async (tx) => {
    const review = await findReview(tx, principal, id, true)
    requireUnfinished(review)
    const team = await namedTeam(tx, principal, body)
    const named = team.userIds.length + team.groupIds.length > 0
    if ((body.reviewers === 'NAMED') !== named)
      throw badRequest(
        named
          ? 'user_ids and group_ids count only with reviewers: "NAMED"'
          : 'NAMED needs at least one of user_ids and group_ids',
      )
    const second = await namedTeam(tx, principal, {
      ...{ user_ids: body.second_user_ids, group_ids: body.second_group_ids },
    })
    const namesSecond = second.userIds.length + second.groupIds.length > 0
    if ((body.second_reviewers === 'NAMED') !== namesSecond)
      throw badRequest(
        namesSecond
          ? 'second_user_ids and second_group_ids count only with second_reviewers: "NAMED"'
          : 'NAMED needs at least one of second_user_ids and second_group_ids',
      )
    const row = one(
      await tx
        .update(accessReviews)
        .set({
          ...{ reviewers: body.reviewers, onDeadline: body.on_deadline },
          ...{ reviewerUserIds: team.userIds, reviewerGroupIds: team.groupIds },
          secondReviewers: body.second_reviewers,
          ...{ secondUserIds: second.userIds, secondGroupIds: second.groupIds },
        })
        .where(eq(accessReviews.id, review.id))
        .returning(),
    )
    await noteReview(tx, principal, review, 'SETTINGS_UPDATED', { ...body })
    return toSettings(row)
  })
}

const toSettings = (row: ReviewRow) => ({
  reviewers: row.reviewers,
  on_deadline: row.onDeadline,
  user_ids: row.reviewerUserIds,
  group_ids: row.reviewerGroupIds,
  second_reviewers: row.secondReviewers,
  second_user_ids: row.secondUserIds,
  second_group_ids: row.secondGroupIds,
})

type Named = { user_ids: string[]; group_ids: string[] }

/** Returns distinct users and groups of the caller's domain, sorted. @throws CoreError not_found */
export async function namedTeam(
  tx: Db,
  { domainId }: Principal,
  { user_ids, group_ids }: Named,
): Promise<{ userIds: string[]; groupIds: string[] }> {
  const [userIds, groupIds] = [distinctIds(user_ids).sort(), distinctIds(group_ids).sort()]
  const people = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.domainId, domainId), inArray(users.id, userIds.filter(isId))))
  if (people.length !== userIds.length) throw notFound('User')
  const teams = await tx
    .select({ id: groups.id })
    .from(groups)
    .where(and(eq(groups.domainId, domainId), inArray(groups.id, groupIds.filter(isId))))
  if (teams.length !== groupIds.length) throw notFound('Group')
  return { userIds, groupIds }
}
