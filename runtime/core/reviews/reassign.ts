/** Reassigning a line to other reviewers. */

import { and, eq, sql } from 'drizzle-orm'
import { badRequest, conflict, notFound } from '../../contract/errors/problem.ts'
import { type Db, one } from '../../database/database.ts'
import { groupMembers, users } from '../../database/schema/people.ts'
import {
  accessReviewAssignments,
  accessReviewItems,
  type ItemRow,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { isId } from '../kernel/by-id.ts'
import { type Principal, requirePermission, usersWhoMayAct } from '../kernel/identity/principal.ts'
import { assignmentOf, detachClosedTasks, hasUninvolved } from './assign.ts'
import { requireUnderWay } from './decide.ts'
import { decidableBy, itemsCondition, toItems } from './items.ts'
import { UNDECIDED } from './machine/states.ts'
import { askReviewers, closeAnswered } from './reviewer-tasks.ts'
import { findReview, findReviewApp, isDeciding, noteReview } from './rows.ts'
import { namedTeam } from './settings.ts'

type Body = { user_ids: string[]; group_ids: string[]; reason: string }

/**
 * Reassigns a line, for one of its reviewers or with reviews.write. Keeps the caller and the reason.
 *
 * @throws CoreError `bad_request` for reviewers who may not decide on it, `forbidden`, `not_found`,
 * `conflict` once it is decided
 */
export async function reassignItem(
  db: Db,
  principal: Principal,
  id: string,
  itemId: string,
  body: Body,
) {
  const row = await db.transaction(async (tx) => {
    const review = await findReview(tx, principal, id)
    requireUnderWay(review)
    const { reviewAppId } = (await findItem(tx, principal, review, itemId)).item
    // While the app is locked no one decides, so read the line again after taking the lock.
    const reviewApp = await findReviewApp(tx, review, reviewAppId, true)
    const { item, mine } = await findItem(tx, principal, review, itemId)
    if (!mine) requirePermission(principal, 'reviews.write')
    if (!UNDECIDED.some((one) => one === item.state))
      throw conflict(`The line is already ${item.state}`)
    if (!isDeciding(reviewApp)) throw conflict('Decisions for its app have ended')
    const team = await namedTeam(tx, principal, body)
    await requireEligibleReviewer(tx, item, team)
    await requireUninvolved(tx, review, reviewApp, item, team)
    const assignmentId = await teamOf(tx, review, reviewApp, team, body.reason, principal.userId)
    const changed = one(
      await tx
        .update(accessReviewItems)
        .set({ assignmentId })
        .where(eq(accessReviewItems.id, item.id))
        .returning(),
    )
    await closeAnswered(tx, reviewApp.id)
    await askReviewers(tx, review, reviewApp)
    await noteReview(tx, principal, review, 'ITEM_REASSIGNED', {
      ...{ item_id: item.id, user_ids: team.userIds, group_ids: team.groupIds },
    })
    return changed
  })
  const [item] = await toItems(db, [row])
  return item
}

async function findItem(tx: Db, { userId, permissions }: Principal, review: ReviewRow, id: string) {
  const [row] = isId(id)
    ? await tx
        .select({ item: accessReviewItems, mine: sql<boolean>`${decidableBy(userId)}` })
        .from(accessReviewItems)
        .where(and(itemsCondition(review, {}), eq(accessReviewItems.id, id)))
    : []
  if (!row || (!row.mine && !permissions.has('reviews.read'))) throw notFound('Line')
  return row
}

type Named = { userIds: string[]; groupIds: string[] }

/** Requires that someone of a team can review a line. @throws CoreError bad_request */
async function requireEligibleReviewer(
  tx: Db,
  { userId, keptById }: ItemRow,
  { userIds, groupIds }: Named,
) {
  if (userIds.length + groupIds.length === 0) throw badRequest('Name at least one user or group')
  if (userId !== null && userIds.includes(userId))
    throw badRequest('People cannot review their own access')
  if (keptById !== null && userIds.includes(keptById))
    throw badRequest('A line cannot be confirmed by the person who kept it; name another person')
  const { rows } = await tx.execute<{ able: boolean }>(sql`select exists (
    select from ${users} where ${usersWhoMayAct(users)}
      and ${users.id} is distinct from ${userId}::uuid
      and ${users.id} is distinct from ${keptById}::uuid and (
        ${users.id} = any(${sql.param(userIds)}::uuid[]) or ${users.id} in (
          select ${groupMembers.userId} from ${groupMembers}
          where ${groupMembers.groupId} = any(${sql.param(groupIds)}::uuid[])))) as able`)
  if (!rows[0]?.able)
    throw badRequest(
      'None of them can review it: they have left, it is their own access, or they kept it before',
    )
}

/**
 * Requires that no named person approved or carried out the request for a line, while another reviewer is
 * left. In a group, such people cannot decide while another member can (`decidableBy`).
 *
 * @throws CoreError bad_request
 */
async function requireUninvolved(
  tx: Db,
  review: ReviewRow,
  reviewApp: ReviewAppRow,
  item: ItemRow,
  { userIds }: Named,
) {
  if (!userIds.some((id) => item.involved.includes(id))) return
  if (await hasUninvolved(tx, review, reviewApp, item))
    throw badRequest(
      'People who approved or carried out the request for this access do not review it while another reviewer is left; name another person',
    )
}

/**
 * Returns the assignment of a team. If its task has closed, detaches it so that a new one is opened. One made
 * before the deadline is not used after it: its lines count as undecided at the deadline.
 */
async function teamOf(
  tx: Db,
  { deadlineAt }: ReviewRow,
  reviewApp: ReviewAppRow,
  { userIds, groupIds }: Named,
  why: string,
  byId: string,
): Promise<string> {
  const { id, reviewAppId, createdAt } = accessReviewAssignments
  const deadline = sql`${deadlineAt.toISOString()}::timestamptz`
  const [known] = await tx
    .select()
    .from(accessReviewAssignments)
    .where(
      and(
        eq(reviewAppId, reviewApp.id),
        sql`${accessReviewAssignments.userIds} = ${sql.param(userIds)}::uuid[]`,
        sql`${accessReviewAssignments.groupIds} = ${sql.param(groupIds)}::uuid[]`,
        eq(accessReviewAssignments.why, why),
        sql`(${createdAt} >= ${deadline}) = (now() >= ${deadline})`,
      ),
    )
    .limit(1)
  if (!known) return assignmentOf(tx, reviewApp, { users: userIds, groups: groupIds, why }, byId)
  await detachClosedTasks(tx, eq(id, known.id))
  return known.id
}
