/** Creating a review, and adding apps to it. */
import { eq, ne, sql } from 'drizzle-orm'
import { badRequest, type CoreError } from '../../contract/errors/problem.ts'
import type {
  AccessReviewDomainAppInput,
  CreateAccessReviewInput,
} from '../../contract/models/access-review.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'
import type { Db } from '../../database/database.ts'
import { accessReviews, type ReviewRow } from '../../database/schema/reviews.ts'
import { findUser } from '../directory/users.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { hasRow } from '../kernel/has-row.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { addApps } from './add-apps.ts'
import { toReview, toReviewApps } from './read.ts'
import { nextOccurrence, type Recurrence, recurrenceFault } from './recurrence.ts'
import { findReview, noteReview } from './rows.ts'

/** Occurrences are searched day by day from the launch, which would take a second for two thousand years. */
const EARLIEST_LAUNCH = new Date('2000-01-01T00:00:00Z')

/**
 * Creates a review.
 *
 * @throws CoreError `bad_request` for a taken name and past times, `not_found` for an unknown owner
 */
export async function createReview(
  db: Db,
  principal: Principal,
  body: CreateAccessReviewInput,
  deps: RequestContext,
) {
  const { review, errors } = await db.transaction(async (tx) => {
    const now = await deps.now(tx)
    const deadlineAt = futureMoment(body.deadline_at, 'deadline_at', now)
    const launch = body.target_launch_date
    const targetLaunchDate = launch === undefined ? null : parseDatetime(launch)
    const recurrence = body.recurrence_config ?? null
    const recurrenceDays = body.recurrence_days_frequency ?? null
    requireRecurrence({ config: recurrence, days: recurrenceDays })
    if (targetLaunchDate !== null && targetLaunchDate < EARLIEST_LAUNCH)
      throw badRequest('target_launch_date must not be before 2000')
    if (targetLaunchDate !== null && targetLaunchDate >= deadlineAt)
      throw badRequest('target_launch_date must be before deadline_at')
    const owner = body.owner_id ?? principal.userId
    const { id: ownerId } = await findUser(tx, principal, owner)
    await requireFreeName(tx, principal, body.name, null)
    const isLater = targetLaunchDate !== null && targetLaunchDate > now
    const status = isLater ? 'SCHEDULED' : body.apps.length > 0 ? 'IN_PREPARATION' : 'IN_PROGRESS'
    const [made] = await tx
      .insert(accessReviews)
      .values({
        ...{ domainId: principal.domainId, name: body.name, status },
        ...{ ownerId, createdById: principal.userId, deadlineAt, targetLaunchDate },
        ...{ recurrence, recurrenceDays, createdAt: now },
        nextAt: nextOccurrence(
          { config: recurrence, days: recurrenceDays },
          targetLaunchDate ?? now,
          now,
        ),
        startedAt: status === 'IN_PROGRESS' ? now : null,
        wakeAt: isLater ? targetLaunchDate : now,
      } as const)
      .onConflictDoNothing()
      .returning()
    if (!made) throw nameTaken(body.name)
    await noteReview(tx, principal, made, 'CREATED', {
      ...{ owner_id: ownerId, deadline_at: deadlineAt.toISOString() },
    })
    const { added, errors } = await addApps(tx, principal, made, body.apps, deps)
    // None of the apps can be reviewed: continue like a review that was created without apps.
    if (status !== 'IN_PREPARATION' || added.length > 0) return { review: made, errors }
    const [bare] = await tx
      .update(accessReviews)
      .set({ status: 'IN_PROGRESS', startedAt: now })
      .where(eq(accessReviews.id, made.id))
      .returning()
    return { review: bare ?? made, errors }
  })
  return { access_review: await toReview(db, review), errors }
}

/** Adds apps to a review. @throws CoreError `bad_request` if the review is COMPLETED, `not_found` */
export async function addReviewApps(
  db: Db,
  principal: Principal,
  id: string,
  { apps }: { apps: AccessReviewDomainAppInput[] },
  deps: RequestContext,
) {
  const { added, errors } = await db.transaction(async (tx) => {
    const review = await findReview(tx, principal, id, true)
    requireUnfinished(review)
    // There is something to decide again.
    if (review.closedAt !== null)
      await tx
        .update(accessReviews)
        .set({ closedAt: null, wakeAt: await deps.now(tx) })
        .where(eq(accessReviews.id, review.id))
    return addApps(tx, principal, review, apps, deps)
  })
  return { added_apps: await toReviewApps(db, added), errors }
}

/** Requires that a review is not COMPLETED. @throws CoreError bad_request */
export function requireUnfinished({ status }: ReviewRow): void {
  if (status === 'COMPLETED') throw badRequest('The access review is COMPLETED; create another one')
}

/** Parses a time, whose format the contract has checked. @throws CoreError `bad_request` if it has passed */
export function futureMoment(text: string, member: string, now: Date): Date {
  const at = parseDatetime(text)
  if (at === null || at <= now) throw badRequest(`${member} must be in the future`)
  return at
}

/** Returns the error for a name that another review has. */
export const nameTaken = (name: string): CoreError =>
  badRequest(`There is already an access review named “${name}”`)

/** Requires that no other review has a name. @throws CoreError bad_request */
export async function requireFreeName(
  tx: Db,
  { domainId }: Principal,
  name: string,
  own: string | null,
): Promise<void> {
  const isTaken = await hasRow(
    tx,
    accessReviews,
    eq(accessReviews.domainId, domainId),
    sql`lower(${accessReviews.name}) = lower(${name})`,
    ne(accessReviews.status, 'DELETED'),
    own === null ? undefined : ne(accessReviews.id, own),
  )
  if (isTaken) throw nameTaken(name)
}

/** Requires a valid recurrence. @throws CoreError bad_request */
export function requireRecurrence(recurrence: Recurrence): void {
  const fault = recurrenceFault(recurrence)
  if (fault !== null) throw badRequest(fault)
}
