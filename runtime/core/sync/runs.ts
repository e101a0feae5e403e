/**
 * Runs: one row records the progress of a sync, and the holder of its lease carries it out. A page is written
 * in one transaction with its checkpoint, and only while the lease is held. A host that is killed or presumed
 * dead at any point therefore leaves a run that another host continues.
 */
import { randomUUID } from 'node:crypto'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { SYNC_PHASES } from '../../contract/models/sync.ts'
import type { Beginning, Db } from '../../database/database.ts'
import { type AppRow, apps } from '../../database/schema/apps.ts'
import { syncRuns, syncSettings } from '../../database/schema/sync.ts'
import { appTarget } from '../catalogue/apps/apps.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import type { KnownAccounts } from './known-accounts.ts'
import { readSettings, type SyncConfig } from './settings.ts'

export type RunRow = typeof syncRuns.$inferSelect

/** Duration of a lease without renewal, in seconds of the database's clock. */
const LEASE_SECONDS = 15
/** Maximum duration of a statement, in milliseconds: some read all rows of an app. */
const STATEMENT_MS = 600_000

/** Sets, within a transaction, the timeout for statements that read all rows of an app. */
export const longStatements: SQL = sql`select set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`

/** Settings of a transaction with such statements. */
export const WITH_LONG_STATEMENTS: Beginning = {
  settings: { statement_timeout: String(STATEMENT_MS) },
}

/**
 * Settings of a checkpoint. A crash of the server loses a checkpoint and its data together, so commits need
 * not wait for the disk.
 */
const CHECKPOINT: Beginning = {
  settings: { ...WITH_LONG_STATEMENTS.settings, synchronous_commit: 'off' },
}

/**
 * Settings of a checkpoint that runs in parallel with another one of the run. If one waits for a row that the
 * other has locked, and the other waits for its checkpoint, both end after `lock_timeout` milliseconds. A
 * transaction that waits for a checkpoint is idle for as long as that takes.
 */
export const BESIDE: Beginning = {
  settings: {
    ...CHECKPOINT.settings,
    lock_timeout: '1000',
    idle_in_transaction_session_timeout: '0',
  },
  once: true,
}

/** A run that is being carried out. `run` is as of the last checkpoint. */
export type Walk = {
  db: Db
  parts: RequestContext
  run: RunRow
  app: AppRow
  settings: SyncConfig
  lease: string
  known: KnownAccounts
  /** End of the probe, if this run makes the call that tests whether the system is back, otherwise null. */
  gate: { probe: Date | null }
  /** Reports whether to stop at the next checkpoint: others wait, the host stops, or the lease is lost. */
  over(): boolean
}

/** Another host has the run, the run has ended, or its app was disconnected or reconnected. */
export class LeaseLost extends Error {}

/** Starts a run. Returns null if one is under way. */
export async function startRun(
  tx: Db,
  actor: Actor,
  app: AppRow,
  send: RequestContext['send'],
): Promise<RunRow | null> {
  const { everyHours, pageSize } = await readSettings(tx, app.id)
  const [run] = await tx
    .insert(syncRuns)
    .values({ domainId: app.domainId, appId: app.id, userId: actor.userId, pageSize })
    .onConflictDoNothing()
    .returning()
  if (!run) return null
  await tx.update(apps).set({ syncStatus: 'SYNCING' }).where(eq(apps.id, app.id))
  await planNext(tx, app, everyHours)
  await recordActivity(tx, actor, 'APP_SYNC_STARTED', [appTarget(app)], { run: run.id })
  await send(tx, 'syncs', app.id)
  return run
}

/** Sets the time of an app's next scheduled sync. */
export async function planNext(tx: Db, app: AppRow, everyHours: number): Promise<void> {
  const nextAt = sql`now() + ${Math.max(1, everyHours)} * interval '1 hour'`
  await tx
    .insert(syncSettings)
    .values({ appId: app.id, domainId: app.domainId, nextAt })
    .onConflictDoUpdate({ target: syncSettings.appId, set: { nextAt } })
}

/**
 * Takes the lease of an app's run, if there is one with work to do now. Called by the host that has the app's
 * turn (job.ts), so any other holder of the lease is dead and writes nothing more.
 */
export async function takeLease(
  db: Db,
  appId: string,
): Promise<{ run: RunRow; lease: string } | null> {
  const lease = randomUUID()
  const [run] = await db
    .update(syncRuns)
    .set({ leaseBy: lease, leaseUntil: leaseEnd })
    .where(
      and(
        eq(syncRuns.appId, appId),
        eq(syncRuns.state, 'RUNNING'),
        sql`(${syncRuns.nextTryAt} is null or ${syncRuns.nextTryAt} <= clock_timestamp())`,
      ),
    )
    .returning()
  return run ? { run, lease } : null
}

const leaseEnd = sql`clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'`

const held = (run: RunRow, lease: string) =>
  and(eq(syncRuns.id, run.id), eq(syncRuns.leaseBy, lease), eq(syncRuns.state, 'RUNNING'))

/** Renews a lease until the returned function is called. `onLost` is called when another host has it. */
export function keepLease(
  { db, run, lease }: Pick<Walk, 'db' | 'run' | 'lease'>,
  renewMs: number,
  onLost: () => void,
): () => void {
  const timer = setInterval(() => {
    db.update(syncRuns)
      .set({ leaseUntil: leaseEnd })
      .where(held(run, lease))
      .returning({ id: syncRuns.id })
      .then((rows) => {
        if (rows.length === 0) onLost()
      })
      // The database is unreachable. The next checkpoint reports it, and another host may take the lease
      // until then.
      .catch(() => undefined)
  }, renewMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Releases a run, which may not be taken again before `nextTryAt`. */
export async function waitUntil(
  db: Db,
  run: RunRow,
  lease: string,
  nextTryAt: Date,
): Promise<void> {
  await db
    .update(syncRuns)
    .set({ nextTryAt, leaseBy: null, leaseUntil: null })
    .where(held(run, lease))
}

/** Releases a run for others. Its wait for the next turn begins now. */
export async function releaseRun(db: Db, run: RunRow, lease: string): Promise<void> {
  const updatedAt = sql`clock_timestamp()`
  await db
    .update(syncRuns)
    .set({ leaseBy: null, leaseUntil: null, updatedAt })
    .where(held(run, lease))
}

type Patch = Partial<
  Pick<RunRow, 'phase' | 'pageToken' | 'cursor' | 'restarts' | 'pageSize' | 'skipped' | 'counts'>
>

/** Progress of a step: where to continue, and `counted`, which is added to the counts. */
export type Progress = Omit<Patch, 'counts'> & { counted?: Record<string, number> }

/**
 * Runs a piece of work and sets its checkpoint in one transaction.
 *
 * @param options.isBeside whether others of the run may be in progress; then it is not retried on contention
 * @throws LeaseLost
 */
export async function checkpoint(
  walk: Walk,
  work: (tx: Db) => Promise<Progress | undefined>,
  { isBeside = false }: { isBeside?: boolean } = {},
): Promise<void> {
  const { run } = walk
  const patch = await walk.db.transaction(
    async (tx) => {
      const { counted = {}, ...rest } = (await work(tx)) ?? {}
      const patch: Patch = { ...rest, counts: added(run.counts, counted) }
      await fence(tx, walk, patch)
      return patch
    },
    isBeside ? BESIDE : CHECKPOINT,
  )
  Object.assign(run, patch, { attempts: 0, problem: null, nextTryAt: null })
}

/** Fails if the credentials of the app were replaced: the run is then resumed with the new ones. */
async function fence(tx: Db, { run, lease, app }: Walk, patch: Patch): Promise<void> {
  const rows = await tx
    .update(syncRuns)
    .set({ ...patch, attempts: 0, problem: null, nextTryAt: null, leaseUntil: leaseEnd })
    .from(apps)
    .where(
      and(
        held(run, lease),
        eq(apps.id, syncRuns.appId),
        sql`${apps.disconnectedAt} is null and ${apps.sealedConnection} = ${app.sealedConnection}`,
      ),
    )
    .returning({ id: syncRuns.id })
  if (rows.length === 0) throw new LeaseLost('the run is no longer ours')
}

/** Returns the sum of two sets of counts. */
export function added(counts: Record<string, number>, more: Record<string, number>) {
  const sum = { ...counts }
  for (const [name, count] of Object.entries(more))
    if (count !== 0) sum[name] = (sum[name] ?? 0) + count
  return sum
}

/**
 * Returns the number of rows of a listing, by its phase, that existed when a run began. If there were none,
 * none can be missing.
 */
export const countedBefore = ({ counts }: Pick<RunRow, 'counts'>, phase: string): number =>
  counts[`before_${phase}`] ?? 0

/** Returns the progress that moves a run to its next phase. */
export const toNext = ({ run, settings }: Walk): Progress => ({
  // A page size that was too large for one listing may be right for the next.
  pageSize: settings.pageSize,
  phase: SYNC_PHASES[SYNC_PHASES.indexOf(run.phase) + 1] ?? 'end',
  pageToken: null,
  cursor: null,
  restarts: 0,
})

type Ending = {
  state: 'SUCCEEDED' | 'FAILED' | 'STOPPED'
  problem: string | null
}

/** Ends a run, in its own transaction or in that of a checkpoint. @throws LeaseLost */
export async function endRun(tx: Db, walk: Walk, { state, problem }: Ending): Promise<void> {
  const { run, lease, app } = walk
  const rows = await tx
    .update(syncRuns)
    .set({ state, problem, endedAt: sql`now()`, leaseBy: null, leaseUntil: null })
    .where(held(run, lease))
    .returning({ id: syncRuns.id })
  if (rows.length === 0) throw new LeaseLost('the run is no longer ours')
  await tx
    .update(apps)
    .set({ syncStatus: state === 'SUCCEEDED' ? 'SUCCESS' : 'FAILED' })
    .where(and(eq(apps.id, app.id), sql`${apps.disconnectedAt} is null`))
  const { domainId } = app
  await recordActivity(
    tx,
    { domainId, userId: null },
    'APP_SYNC_ENDED',
    [appTarget(app)],
    { run: run.id, state, problem, counts: run.counts },
    state === 'SUCCEEDED' ? 'Succeeded' : 'Failed',
  )
}
