/** Preparing an app: a complete sync, its lines, their reviewers. Each step is done as a whole. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { type AppRow, apps } from '../../database/schema/apps.ts'
import {
  accessReviewApps,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { later } from '../kernel/jobs/retry-schedules.ts'
import { longStatements, startRun } from '../sync/runs.ts'
import { openErrorTask } from '../tasks/error-task.ts'
import { applyToReview, applyToReviewApp } from './apply.ts'
import { assignLines, UNASSIGNED } from './assign.ts'
import { systemOf } from './machine/log.ts'
import { lastRuns, type ReviewReadiness, readinessOf } from './readiness.ts'
import { askReviewers } from './reviewer-tasks.ts'
import { lockReview, lockReviewApp } from './rows.ts'
import { addsUp, type Counted, TAKEN, takeSnapshot, writeTaken } from './snapshot.ts'

/** Interval at which a waiting app is checked even if no sync has ended, in milliseconds. */
const LOOK_MS = 60_000

type Deps = Pick<CoreContext, 'send' | 'now' | 'connectors' | 'tell'>

/** Advances the preparation of an app as far as currently possible. */
export async function prepareApp(db: Db, reviewAppId: string, deps: Deps): Promise<void> {
  await db.transaction((tx) => begin(tx, reviewAppId, deps))
  await db.transaction((tx) => assignAll(tx, reviewAppId, deps))
}

async function begin(tx: Db, reviewAppId: string, deps: Deps): Promise<void> {
  const reviewApp = await lockReviewApp(tx, reviewAppId)
  if (reviewApp?.status !== 'IN_PREPARATION') return
  const review = await reviewOf(tx, reviewApp)
  if (review.status === 'SCHEDULED') return wait(tx, reviewApp, { problem: null, wakeAt: null })
  const [app] = await tx
    .select()
    .from(apps)
    .where(eq(apps.id, reviewApp.appId))
    .for('no key update')
  if (!app) throw new Error('the app of an access review is gone')
  const now = await deps.now(tx)
  const ready = await readinessOf(tx, app, reviewApp.freshRun, now, deps.connectors)
  if (ready.kind !== 'ready') return notReady(tx, reviewApp, review, app, ready, now, deps)
  await tx.execute(longStatements)
  const counted = await takeSnapshot(tx, reviewApp)
  // A bug in Keyway must not end up in a review: roll back the transaction.
  if (!addsUp(counted))
    throw new Error(`the items of an access review do not add up: ${JSON.stringify(counted)}`)
  if (counted.items === 0) {
    const problem =
      'the scope matches nothing in the app; change the scope_filters, or remove the app'
    return stuck(tx, { ...reviewApp, seenRun: ready.run?.id ?? null }, review, app, problem, null)
  }
  // Assign lines before writing them: changing a written line costs as much as writing it.
  const assigning = { review, reviewApp, kind: review.reviewers, which: UNASSIGNED }
  await assignLines(tx, { ...assigning, lines: TAKEN })
  const written = await writeTaken(tx, reviewApp)
  if (written !== counted.items)
    throw new Error(`of ${counted.items} items of an access review ${written} were written`)
  const taken = {
    population: populationOf(counted, ready.run, app, deps),
    accountCount: counted.accounts,
    seenRun: ready.run?.id ?? null,
  }
  await applyToReviewApp(tx, reviewApp, { kind: 'lines_taken_down', ...taken }, now)
}

/** Returns the review of an app, locked. All code locks it after its app. */
async function reviewOf(tx: Db, { reviewId }: ReviewAppRow): Promise<ReviewRow> {
  const review = await lockReview(tx, reviewId)
  if (!review) throw new Error('the access review of an app is gone')
  return review
}

const wait = async (tx: Db, { id }: ReviewAppRow, values: Partial<ReviewAppRow>): Promise<void> => {
  await tx.update(accessReviewApps).set(values).where(eq(accessReviewApps.id, id))
}

async function notReady(
  tx: Db,
  reviewApp: ReviewAppRow,
  review: ReviewRow,
  app: AppRow,
  { kind, problem }: Extract<ReviewReadiness, { problem: string }>,
  now: Date,
  deps: Deps,
): Promise<void> {
  const { latest, complete } = await lastRuns(tx, app.id)
  const seenRun = complete?.id ?? null
  const wakeAt = later(now, LOOK_MS)
  if (kind === 'sync') {
    const run = await startRun(tx, systemOf(reviewApp), app, deps.send)
    return wait(tx, reviewApp, {
      problem,
      seenRun,
      wakeAt,
      freshRun: run?.id ?? latest?.id ?? null,
    })
  }
  if (latest?.state === 'RUNNING') return wait(tx, reviewApp, { problem, seenRun, wakeAt })
  await stuck(tx, { ...reviewApp, seenRun }, review, app, problem, wakeAt)
}

/** Records that the app cannot continue without people, and tells them once. */
async function stuck(
  tx: Db,
  reviewApp: ReviewAppRow,
  { name, id, ownerId }: ReviewRow,
  app: AppRow,
  problem: string,
  wakeAt: Date | null,
): Promise<void> {
  await wait(tx, reviewApp, { problem, seenRun: reviewApp.seenRun, wakeAt })
  if (reviewApp.problem === problem) return
  await openErrorTask(tx, reviewApp.domainId, {
    taskType: 'ACCESS_REVIEW_NOT_LAUNCHED',
    description: `The access review “${name}” cannot start for ${app.name}: ${problem}`,
    instructions: `It continues automatically once that is fixed. DELETE /access_reviews/${id}/apps/${reviewApp.id} removes the app from the review`,
    productArea: 'ACCESS_REVIEWS',
    app: { id: app.id, adminUserIds: ownerId === null ? [] : [ownerId], adminGroupIds: [] },
  })
}

function populationOf(
  { synced, items, excluded, leftOut }: Counted,
  run: { id: number; endedAt: Date | null } | null,
  app: AppRow,
  { connectors }: Deps,
) {
  const connector = app.connectorId === null ? null : connectors.find(app.connectorId)
  return {
    run: run?.id ?? null,
    at: run?.endedAt?.toISOString() ?? null,
    connector: app.connectorId,
    connectorVersion: connector?.version ?? null,
    connectorDigest: connector?.digest ?? null,
    ...{ synced, items, excluded, leftOut },
  }
}

async function assignAll(tx: Db, reviewAppId: string, deps: Deps): Promise<void> {
  const reviewApp = await lockReviewApp(tx, reviewAppId)
  if (reviewApp?.status !== 'ASSIGNING_REVIEWERS') return
  const review = await reviewOf(tx, reviewApp)
  const now = await deps.now(tx)
  await tx.execute(longStatements)
  await assignLines(tx, { review, reviewApp, kind: review.reviewers, which: UNASSIGNED })
  await askReviewers(tx, review, reviewApp)
  await applyToReviewApp(tx, reviewApp, { kind: 'launched', review }, now)
  await applyToReview(tx, review, { kind: 'started' }, now)
}
