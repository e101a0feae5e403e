/**
 * Runs: one row says where a sync stands, and the holder of its lease carries it out. A page is written in
 * one transaction with the checkpoint behind it, and only while the lease is held; so a host that is
 * killed, or thought dead, at any point leaves a run that another goes on with.
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
import type { KnownAccounts } from './known.ts'
import { readSettings, type SyncConfig } from './settings.ts'

export type RunRow = typeof syncRuns.$inferSelect

/** How long a lease lasts without being renewed, in seconds, by the database's time. */
const LEASE_SECONDS = 15
/** Longest a single statement may take: some walk all rows of an app. In milliseconds. */
const STATEMENT_MS = 600_000

/** Within a transaction: lets its statements take as long as those that walk all rows of an app. */
export const longStatements: SQL = sql`select set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`

/** Begins a transaction with such statements. */
export const WITH_LONG_STATEMENTS: Beginning = {
  settings: { statement_timeout: String(STATEMENT_MS) },
}

/** What a crash of the server takes back, it takes back with its checkpoint: nobody waits for the disk. */
const CHECKPOINT: Beginning = {
  settings: { ...WITH_LONG_STATEMENTS.settings, synchronous_commit: 'off' },
}

/**
 * The same beside another of the run. Where one waits for a row of the other, which waits for its checkpoint, both end
 * after so many milliseconds. The one that waits for a checkpoint is idle for as long as that takes.
 */
export const BESIDE: Beginning = {
  settings: {
    ...CHECKPOINT.settings,
    lock_timeout: '1000',
    idle_in_transaction_session_timeout: '0',
  },
  once: true,
}

/** A run that is being carried out. `run` is as the last checkpoint left it. */
export type Walk = {
  db: Db
  parts: RequestContext
  run: RunRow
  app: AppRow
  settings: SyncConfig
  lease: string
  known: KnownAccounts
  /** Until when this is the call that finds out whether the system is back; null where it is not. */
  gate: { probe: Date | null }
  /** Whether to stop at the next checkpoint: others wait, the host stops, or the lease is gone. */
  over(): boolean
}

/** Another host has the run, the run has ended, or its app was disconnected or reconnected. */
export class LeaseLost extends Error {}

/** Begins a run; null where one is under way. */
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

/** Sets when the schedule comes back to an app. */
export async function planNext(tx: Db, app: AppRow, everyHours: number): Promise<void> {
  const nextAt = sql`now() + ${Math.max(1, everyHours)} * interval '1 hour'`
  await tx
    .insert(syncSettings)
    .values({ appId: app.id, domainId: app.domainId, nextAt })
    .onConflictDoUpdate({ target: syncSettings.appId, set: { nextAt } })
}

/**
 * Takes the lease of an app's run, if there is one with something to do now. Called by the host that has the
 * app's turn (job.ts): whose lease it still is, is gone, and writes nothing any more.
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

/** Renews a lease until it is ended; `onLost` is called when another host has it. */
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
      // The database is away: the next checkpoint says so, and another host may have it meanwhile.
      .catch(() => undefined)
  }, renewMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Gives a run back, not to be taken before a moment. */
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

/** Lets others have the run: since now it waits for its next turn. */
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

/** What a step leaves behind: where to go on, and how much was done (added to the counts). */
export type Progress = Omit<Patch, 'counts'> & { counted?: Record<string, number> }

/**
 * Does a piece of work and sets the checkpoint behind it, both or neither.
 *
 * @param options.isBeside Others of the run may be under way; then it is not retried where they contend.
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

/** Counts with more of them. */
export function added(counts: Record<string, number>, more: Record<string, number>) {
  const sum = { ...counts }
  for (const [name, count] of Object.entries(more))
    if (count !== 0) sum[name] = (sum[name] ?? 0) + count
  return sum
}

/** How many rows of a listing, by its phase, there were when a run began: without any, none can be missing. */
export const countedBefore = ({ counts }: Pick<RunRow, 'counts'>, phase: string): number =>
  counts[`before_${phase}`] ?? 0

/** What leads from a phase to the next one. */
export const toNext = ({ run, settings }: Walk): Progress => ({
  // What was too large for one listing may be right for the next.
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

/** Ends a run, within a transaction of its own or a checkpoint's. @throws LeaseLost */
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
