/** Adding apps to a review. A fault of one app does not affect the others. */
import { and, eq, inArray, ne } from 'drizzle-orm'
import type {
  AccessReviewDomainAppInput,
  ReviewAppError,
} from '../../contract/models/access-review.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import {
  accessReviewApps,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { isId } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { sendReviewJob } from './keys.ts'
import { readinessOf } from './readiness.ts'
import { noteReview } from './rows.ts'
import { appError, scopeFault } from './scope.ts'

type Deps = Pick<CoreContext, 'send' | 'now' | 'connectors'>

/**
 * Adds apps to a locked review. An app that has to wait for a sync is added, and has an entry in `errors`
 * with the reason. An app that cannot be added has only the entry.
 */
export async function addApps(
  tx: Db,
  principal: Principal,
  review: ReviewRow,
  wanted: readonly AccessReviewDomainAppInput[],
  deps: Deps,
): Promise<{ added: ReviewAppRow[]; errors: ReviewAppError[] }> {
  const added: ReviewAppRow[] = []
  const errors: ReviewAppError[] = []
  const now = await deps.now(tx)
  const known = await knownApps(tx, principal, wanted)
  for (const { id, review_type, scope_filters } of wanted) {
    const app = known.get(id.toLowerCase())
    const fault = app ? scopeFault(scope_filters) : 'there is no such app'
    if (!app || fault !== null) {
      errors.push(appError(id, fault ?? ''))
      continue
    }
    const [reviewApp] = await tx
      .insert(accessReviewApps)
      .values({
        ...{ domainId: review.domainId, reviewId: review.id, appId: app.id },
        ...{ reviewType: review_type, scope: scope_filters ?? null },
        ...{
          status: 'IN_PREPARATION' as const,
          wakeAt: review.status === 'SCHEDULED' ? null : now,
        },
      })
      .onConflictDoNothing()
      .returning()
    if (!reviewApp) {
      errors.push(appError(id, 'the app is already in the review'))
      continue
    }
    added.push(reviewApp)
    const ready = await readinessOf(tx, app, null, now, deps.connectors)
    if (ready.kind !== 'ready') errors.push(appError(id, ready.problem))
    if (review.status !== 'SCHEDULED')
      await sendReviewJob(tx, { kind: 'app', id: reviewApp.id }, deps)
  }
  if (added.length > 0)
    await noteReview(tx, principal, review, 'APPS_ADDED', {
      app_ids: added.map(({ appId }) => appId),
    })
  return { added, errors }
}

async function knownApps(
  tx: Db,
  { domainId }: Principal,
  wanted: readonly AccessReviewDomainAppInput[],
) {
  const ids = wanted.map(({ id }) => id.toLowerCase()).filter(isId)
  if (ids.length === 0) return new Map()
  const rows = await tx
    .select()
    .from(apps)
    .where(and(eq(apps.domainId, domainId), inArray(apps.id, ids)))
  return new Map(rows.map((app) => [app.id, app]))
}

/** Returns the apps of a review that have not been removed from it. */
export const appsOfReview = (tx: Db, reviewId: string): Promise<ReviewAppRow[]> =>
  tx
    .select()
    .from(accessReviewApps)
    .where(and(eq(accessReviewApps.reviewId, reviewId), ne(accessReviewApps.status, 'DELETED')))
    .orderBy(accessReviewApps.createdAt, accessReviewApps.id)
