/** Changing and deleting reviews, and removing apps from them. */

import { eq } from 'drizzle-orm'
import { badRequest } from '../../contract/errors/problem.ts'
import type { UpdateAccessReviewInput } from '../../contract/models/access-review.ts'
import { isTaken } from '../../database/contention.ts'
import { type Db, one } from '../../database/database.ts'
import {
  accessReviewApps,
  accessReviews,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { findUser } from '../directory/users.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { appsOfReview } from './add-apps.ts'
import { applyToReview, applyToReviewApp } from './apply.ts'
import {
  futureMoment,
  nameTaken,
  requireFreeName,
  requireRecurrence,
  requireUnfinished,
} from './create.ts'
import { sendReviewJob } from './keys.ts'
import { toReview } from './read.ts'
import { nextOf } from './recur.ts'
import { dismissAsked } from './reviewer-tasks.ts'
import { findReview, findReviewApp, lockReviewApp, noteReview } from './rows.ts'
import { scopeFault } from './scope.ts'
import { hasRemovalWebhook } from './take-by-webhook.ts'

/** Changes a review and its apps. @throws CoreError bad_request, not_found */
export async function updateReview(
  db: Db,
  principal: Principal,
  id: string,
  body: UpdateAccessReviewInput,
  deps: RequestContext,
) {
  const review = await db
    .transaction((tx) => update(tx, principal, id, body, deps))
    .catch((error) => {
      // Another review took the name after the check.
      if (body.name !== undefined && isTaken(error)) throw nameTaken(body.name)
      throw error
    })
  return toReview(db, review)
}

async function update(
  tx: Db,
  principal: Principal,
  id: string,
  body: UpdateAccessReviewInput,
  deps: RequestContext,
): Promise<ReviewRow> {
  // Lock apps before their review, as the background does.
  const before = await findReview(tx, principal, id)
  for (const change of body.apps)
    await updateApp(tx, await findReviewApp(tx, before, change.id, true), change, deps)
  const locked = await findReview(tx, principal, id, true)
  requireUnfinished(locked)
  const values = await valuesOf(tx, principal, locked, body, deps)
  const row = one(
    await tx
      .update(accessReviews)
      .set({ ...values, wakeAt: await wakeOf(tx, { ...locked, ...values }, deps) })
      .where(eq(accessReviews.id, locked.id))
      .returning(),
  )
  const changed = [...Object.keys(values), ...(body.apps.length > 0 ? ['apps'] : [])]
  await noteReview(tx, principal, row, 'UPDATED', { changed })
  return row
}

const wakeOf = async (
  tx: Db,
  { status, targetLaunchDate }: ReviewRow,
  { now }: RequestContext,
): Promise<Date | null> => (status === 'SCHEDULED' ? targetLaunchDate : now(tx))

async function valuesOf(
  tx: Db,
  principal: Principal,
  review: ReviewRow,
  body: UpdateAccessReviewInput,
  deps: RequestContext,
): Promise<Partial<ReviewRow>> {
  const now = await deps.now(tx)
  const values: Partial<ReviewRow> = {}
  if (body.name !== undefined) {
    await requireFreeName(tx, principal, body.name, review.id)
    values.name = body.name
  }
  if (body.deadline_at !== undefined)
    values.deadlineAt = futureMoment(body.deadline_at, 'deadline_at', now)
  if (body.owner_id !== undefined)
    values.ownerId = (await findUser(tx, principal, body.owner_id)).id
  if (body.target_launch_date !== undefined) {
    if (review.status !== 'SCHEDULED')
      throw badRequest(`The access review is ${review.status}; it has already been launched`)
    values.targetLaunchDate = futureMoment(body.target_launch_date, 'target_launch_date', now)
  }
  const { recurrence_config: config, recurrence_days_frequency: days } = body
  if (config !== undefined) values.recurrence = config
  if (days !== undefined) values.recurrenceDays = days
  const changed = { ...review, ...values }
  requireRecurrence({ config: changed.recurrence, days: changed.recurrenceDays })
  if (config !== undefined || days !== undefined || values.targetLaunchDate)
    values.nextAt = nextOf(changed, now)
  const launch = values.targetLaunchDate ?? review.targetLaunchDate
  if (launch && launch >= (values.deadlineAt ?? review.deadlineAt))
    throw badRequest('target_launch_date must be before deadline_at')
  return values
}

async function updateApp(
  tx: Db,
  reviewApp: ReviewAppRow,
  change: UpdateAccessReviewInput['apps'][number],
  deps: RequestContext,
): Promise<void> {
  const values: Partial<ReviewAppRow> = {}
  if (change.scope_filters !== undefined) {
    if (reviewApp.status !== 'IN_PREPARATION')
      throw badRequest('The scope of an app cannot be changed once its lines have been created')
    const fault = scopeFault(change.scope_filters)
    if (fault !== null) throw badRequest(fault)
    values.scope = change.scope_filters
    values.wakeAt = await deps.now(tx)
  }
  if (change.removal_action !== undefined) {
    if (change.removal_action === 'WEBHOOK' && !(await hasRemovalWebhook(tx, reviewApp)))
      throw badRequest(
        `The app has no webhook that revokes access; name one as access_removal_inline_webhook in PATCH /appstore/apps/${reviewApp.appId}/settings, or in a permission`,
      )
    if (reviewApp.removalAt !== null)
      throw badRequest('Rejected access in this app is already being removed')
    values.removalAction = change.removal_action
  }
  if (change.configurable_evidence_upload !== undefined)
    values.evidenceUpload = change.configurable_evidence_upload
  if (Object.keys(values).length === 0) return
  await tx.update(accessReviewApps).set(values).where(eq(accessReviewApps.id, reviewApp.id))
  if (values.wakeAt) await sendReviewJob(tx, { kind: 'app', id: reviewApp.id }, deps)
}

/**
 * Deletes a review. Its row is kept, open tasks are dismissed, and lines being removed keep their state.
 *
 * @throws CoreError not_found
 */
export async function deleteReview(
  db: Db,
  principal: Principal,
  id: string,
  deps: RequestContext,
): Promise<void> {
  await db.transaction(async (tx) => {
    const found = await findReview(tx, principal, id)
    const now = await deps.now(tx)
    for (const { id: reviewAppId } of await appsOfReview(tx, found.id)) {
      const reviewApp = await lockReviewApp(tx, reviewAppId)
      if (reviewApp && reviewApp.status !== 'DELETED') await takeOut(tx, reviewApp, now)
    }
    const review = await findReview(tx, principal, id, true)
    await applyToReview(tx, review, { kind: 'deleted', by: principal }, now)
  })
}

/** Removes an app from a review. @throws CoreError `bad_request` if the review is COMPLETED, `not_found` */
export async function removeReviewApp(
  db: Db,
  principal: Principal,
  id: string,
  reviewAppId: string,
  deps: RequestContext,
): Promise<void> {
  await db.transaction(async (tx) => {
    const found = await findReview(tx, principal, id)
    requireUnfinished(found)
    const reviewApp = await findReviewApp(tx, found, reviewAppId, true)
    await takeOut(tx, reviewApp, await deps.now(tx))
    await noteReview(tx, principal, found, 'APP_REMOVED', {
      arda_id: reviewApp.id,
      app_id: reviewApp.appId,
    })
    await sendReviewJob(tx, { kind: 'review', id: found.id }, deps)
  })
}

async function takeOut(tx: Db, reviewApp: ReviewAppRow, now: Date): Promise<void> {
  await dismissAsked(tx, reviewApp.id)
  await applyToReviewApp(tx, reviewApp, { kind: 'taken_out' }, now)
}
