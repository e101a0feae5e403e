/** Runs as operators see them, and operators' decisions about them. */
import { and, desc, eq, gt, lt, ne, sql } from 'drizzle-orm'
import { CoreError } from '../../contract/errors/problem.ts'
import type { RunState, SyncRun } from '../../contract/models/sync.ts'
import { type Db, written } from '../../database/database.ts'
import { type AppRow, apps } from '../../database/schema/apps.ts'
import { syncRuns } from '../../database/schema/sync.ts'
import { appTarget } from '../catalogue/apps/apps.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'
import { isId } from '../kernel/by-id.ts'
import type { RequestContext } from '../kernel/context/context.ts'
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

/** Lists the latest runs, newest first. */
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

type Found = { run: RunRow; app: AppRow }

/**
 * Reads a run of a domain and its app, and locks both until the transaction ends. @throws CoreError
 * `not_found`
 */
async function lockRun(tx: Db, { domainId }: Actor, number: number): Promise<Found> {
  const [found] = Number.isSafeInteger(number)
    ? await tx
        .select({ run: syncRuns, app: apps })
        .from(syncRuns)
        .innerJoin(apps, eq(apps.id, syncRuns.appId))
        .where(and(eq(syncRuns.id, number), eq(syncRuns.domainId, domainId)))
        .for('no key update')
    : []
  if (!found) throw new CoreError('not_found', 'There is no such run; see keyway syncs')
  return found
}

/**
 * Cancels a running sync. Data written so far stays, the rest remains as it was. The host that runs it finds
 * its lease lost and writes nothing more.
 *
 * @throws CoreError `not_found`, `conflict` if the run is not running
 */
export async function cancelRun(
  db: Db,
  actor: Actor,
  number: number,
  dryRun: boolean,
): Promise<SyncRun> {
  return db.transaction(async (tx) => {
    const { run, app } = await lockRun(tx, actor, number)
    if (run.state !== 'RUNNING')
      throw new CoreError(
        'conflict',
        `The run is ${run.state}; only a RUNNING run can be cancelled`,
      )
    if (dryRun) return toWire(run, app)
    const [ended] = await tx
      .update(syncRuns)
      .set({
        ...{ state: 'CANCELLED', nextTryAt: null, leaseBy: null, leaseUntil: null },
        endedAt: sql`now()`,
      })
      .where(eq(syncRuns.id, run.id))
      .returning()
    const [before] = await tx
      .select({ state: syncRuns.state })
      .from(syncRuns)
      .where(
        and(eq(syncRuns.appId, app.id), lt(syncRuns.id, run.id), ne(syncRuns.state, 'CANCELLED')),
      )
      .orderBy(desc(syncRuns.id))
      .limit(1)
    if (app.disconnectedAt === null)
      await tx
        .update(apps)
        .set({ syncStatus: before ? STATUS_OF[before.state] : null })
        .where(eq(apps.id, app.id))
    await recordActivity(tx, actor, 'APP_SYNC_CANCELLED', [appTarget(app)], {
      run: run.id,
      phase: run.phase,
      counts: run.counts,
    })
    return toWire(written(ended), app)
  })
}

/** Status of the app after a run is cancelled, by the state of the run before it. */
const STATUS_OF = {
  RUNNING: null,
  SUCCEEDED: 'SUCCESS',
  FAILED: 'FAILED',
  STOPPED: 'FAILED',
  CANCELLED: null,
} as const satisfies Record<RunState, string | null>

/**
 * Accepts a mass deletion: the stopped run continues and marks the missing rows.
 *
 * @throws CoreError `not_found`, `conflict` if the run is not stopped, another run has begun since, or the
 * app was disconnected
 */
export async function acceptDrop(
  db: Db,
  actor: Actor,
  number: number,
  { dryRun, send }: { dryRun: boolean; send: RequestContext['send'] },
): Promise<SyncRun> {
  return db.transaction(async (tx) => {
    const { run, app } = await lockRun(tx, actor, number)
    if (run.state !== 'STOPPED')
      throw new CoreError('conflict', `The run is ${run.state}; only a STOPPED run can be accepted`)
    const [later] = await tx
      .select({ id: syncRuns.id })
      .from(syncRuns)
      .where(and(eq(syncRuns.appId, app.id), gt(syncRuns.id, run.id)))
      .limit(1)
    if (later)
      throw new CoreError(
        'conflict',
        `Run ${later.id} of the app has started since; its result counts`,
      )
    if (app.disconnectedAt !== null)
      throw new CoreError('conflict', 'The app was disconnected; connect it and start another sync')
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
    return toWire(written(again), app)
  })
}
