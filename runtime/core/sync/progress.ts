/** What operators see of runs, and the one thing that they say about them. */
import { and, desc, eq, gt } from 'drizzle-orm'
import { CoreError } from '../../contract/endpoints/problem.ts'
import { isId } from '../../contract/id.ts'
import type { SyncRun } from '../../contract/models/sync.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { syncRuns } from '../../database/schema/sync.ts'
import { type Actor, recordActivity } from '../activity/activity.ts'
import { type AppRow, appTarget } from '../apps/apps.ts'
import type { RequestParts } from '../parts.ts'
import type { RunRow } from './runs.ts'

const toWire = (run: RunRow, app: Pick<AppRow, 'name'>): SyncRun => ({
  run: run.id,
  app_id: run.appId,
  app_name: app.name,
  state: run.state,
  phase: run.phase,
  counts: run.counts,
  skipped: run.skipped,
  problem: run.problem,
  attempts: run.attempts,
  next_try_at: run.state === 'RUNNING' ? (run.nextTryAt?.toISOString() ?? null) : null,
  began_at: run.createdAt.toISOString(),
  ended_at: run.endedAt?.toISOString() ?? null,
})

/** The latest runs, newest first. */
export async function listRuns(
  db: Db,
  domainId: string,
  { appId, limit }: { appId: string | null; limit: number },
): Promise<SyncRun[]> {
  if (appId !== null && !isId(appId)) return []
  const rows = await db
    .select({ run: syncRuns, app: apps })
    .from(syncRuns)
    .innerJoin(apps, eq(apps.id, syncRuns.appId))
    .where(
      and(eq(syncRuns.domainId, domainId), appId === null ? undefined : eq(syncRuns.appId, appId)),
    )
    .orderBy(desc(syncRuns.id))
    .limit(limit)
  return rows.map(({ run, app }) => toWire(run, app))
}

/**
 * Says that what vanished is gone indeed: a stopped run goes on, and marks it.
 *
 * @throws CoreError 404; 409 where it is not stopped, or another run began since.
 */
export async function acceptDrop(
  db: Db,
  actor: Actor,
  number: number,
  { dryRun, send }: { dryRun: boolean; send: RequestParts['send'] },
): Promise<SyncRun> {
  return db.transaction(async (tx) => {
    const [found] = Number.isSafeInteger(number)
      ? await tx
          .select({ run: syncRuns, app: apps })
          .from(syncRuns)
          .innerJoin(apps, eq(apps.id, syncRuns.appId))
          .where(and(eq(syncRuns.id, number), eq(syncRuns.domainId, actor.domainId)))
          .for('no key update')
      : []
    if (!found) throw new CoreError(404, 'There is no such run; see keyway syncs')
    const { run, app } = found
    if (run.state !== 'STOPPED')
      throw new CoreError(409, `The run is ${run.state}; only one that is STOPPED waits for this`)
    const [later] = await tx
      .select({ id: syncRuns.id })
      .from(syncRuns)
      .where(and(eq(syncRuns.appId, app.id), gt(syncRuns.id, run.id)))
      .limit(1)
    if (later)
      throw new CoreError(
        409,
        `Run ${later.id} of the app began since; what counts is what that finds`,
      )
    if (app.disconnectedAt !== null)
      throw new CoreError(409, 'The app was disconnected; connect it and start another sync')
    if (dryRun) return toWire(run, app)
    const [again] = await tx
      .update(syncRuns)
      .set({ state: 'RUNNING', accepted: true, problem: null, endedAt: null, nextTryAt: null })
      .where(eq(syncRuns.id, run.id))
      .returning()
    await tx.update(apps).set({ syncStatus: 'SYNCING' }).where(eq(apps.id, app.id))
    await recordActivity(tx, actor, 'APP_SYNC_DROP_ACCEPTED', [appTarget(app)], {
      run: run.id,
      problem: run.problem,
    })
    await send(tx, 'syncs', app.id)
    return toWire(again as RunRow, app)
  })
}
