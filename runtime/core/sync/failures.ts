/** Failures of a run: retried with growing pauses, or final, with a task for the app's admins. */

import { and, eq, inArray, sql } from 'drizzle-orm'
import type { ErrorCode } from '../../contract/errors/error-codes.ts'
import { SYNC_TASK } from '../../contract/models/sync.ts'
import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import { syncRuns } from '../../database/schema/sync.ts'
import { tasks } from '../../database/schema/tasks.ts'
import { recordOutage } from '../catalogue/apps/outages.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import type { ConnectorAnswer } from '../kernel/context/connectors.ts'
import { faultOf } from '../kernel/faults.ts'
import { pauseMs, RETRY_SCHEDULES } from '../kernel/jobs/retry-schedules.ts'
import { plainWords } from '../kernel/plain-words.ts'
import { openErrorTask } from '../tasks/error-task.ts'
import { endRun, LeaseLost, type Walk } from './runs.ts'

type About = {
  final?: boolean
  code?: ErrorCode | null
  isTooLarge?: boolean
  retryAfterMs?: number
}

/** A failure outside of Keyway. Its message holds no secrets. */
export class SyncFailure extends Error {
  /** True if a person must act before a retry can succeed. */
  readonly final: boolean
  /** Error code of the connector, or null if the failure has another origin. */
  readonly code: ErrorCode | null
  /** True if a page exceeded the size limit. */
  readonly isTooLarge: boolean
  /** Pause that the system asked for, in milliseconds. */
  readonly retryAfterMs: number

  constructor(
    words: string,
    { final = false, code = null, isTooLarge = false, retryAfterMs = 0 }: About = {},
  ) {
    super(words)
    this.final = final
    this.code = code
    this.isTooLarge = isTooLarge
    this.retryAfterMs = retryAfterMs
  }
}

type Failure = Extract<ConnectorAnswer, { ok: false }>

/** Classifies a connector's error. */
export function syncFailureOf(capability: string, failure: Failure): SyncFailure {
  const { error, retryAfterMs, reason } = failure
  const { error_code: code, message } = error
  const { reach, credentials } = faultOf(code)
  return new SyncFailure(`${capability}: ${plainWords(message).slice(0, 800)} (${code})`, {
    final:
      credentials === true ||
      // An object that was removed between two pages is not listed by the next try.
      (reach === 'refused' && code !== 'not_found') ||
      reason === 'paging_circles' ||
      reason === 'paging_endless',
    code,
    isTooLarge: reason === 'reply_too_large',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** Records a failure: the run continues later, or fails. */
export async function recordSyncFailure(walk: Walk, failure: SyncFailure): Promise<void> {
  const { run, db, lease } = walk
  if (failure.isTooLarge) return shrink(walk, failure)
  if (failure.final) return fail(walk, failure.message, failure.code)
  const away = await awayFor(walk, failure)
  if (away !== null && away.forMs >= RETRY_SCHEDULES.sync.endAfterMs)
    return fail(walk, failure.message, failure.code)
  // An outage is not a failure of the run. It waits while the app is paused, and no attempt is counted.
  const attempts = run.attempts + (away === null ? 1 : 0)
  if (attempts >= RETRY_SCHEDULES.sync.endAfter) return fail(walk, failure.message, failure.code)
  const waitMs = away === null ? pauseMs('sync', attempts) : away.pauseMs
  // A page that times out may be too large. The size can change only before the first page of a sequence.
  const smaller = failure.code === 'request_timeout' && run.pageToken === null && run.pageSize > 50
  const rows = await db
    .update(syncRuns)
    .set({
      attempts,
      problem: failure.message,
      nextTryAt: sql`clock_timestamp() + ${waitMs} * interval '1 millisecond'`,
      ...(smaller ? { pageSize: Math.max(50, Math.floor(run.pageSize / 2)) } : {}),
      leaseBy: null,
      leaseUntil: null,
    })
    .where(and(eq(syncRuns.id, run.id), eq(syncRuns.leaseBy, lease), eq(syncRuns.state, 'RUNNING')))
    .returning({ id: syncRuns.id })
  if (rows.length === 0) throw new LeaseLost('the run is no longer ours')
}

/** Divisor of the page size after a page was too large: from 1000 to a single item in five tries. */
const SHRINK = 4

/** Restarts the listing with smaller pages, at once: the page size of a sequence is fixed. */
async function shrink(walk: Walk, failure: SyncFailure): Promise<void> {
  const { run, db, lease } = walk
  if (run.pageSize <= 1) return fail(walk, failure.message, failure.code)
  const smaller = { pageToken: null, pageSize: Math.max(1, Math.floor(run.pageSize / SHRINK)) }
  const rows = await db
    .update(syncRuns)
    .set({ ...smaller, problem: failure.message, leaseBy: null, leaseUntil: null })
    .where(and(eq(syncRuns.id, run.id), eq(syncRuns.leaseBy, lease), eq(syncRuns.state, 'RUNNING')))
    .returning({ id: syncRuns.id })
  if (rows.length === 0) throw new LeaseLost('the run is no longer ours')
}

/** Records that the system does not answer. Returns null for other failures. */
async function awayFor(
  { db, app, parts, gate }: Walk,
  { code, message, retryAfterMs }: SyncFailure,
) {
  if (code === null || faultOf(code).reach !== 'system') return null
  const now = await parts.now(db)
  const fault = { code, problem: message, retryAfterMs }
  const { since, until } = await recordOutage(db, app, gate, fault, now, parts.tell)
  gate.probe = null
  return { pauseMs: until.getTime() - now.getTime(), forMs: now.getTime() - since.getTime() }
}

/** Ends a run in failure. Data of earlier runs stays. */
export async function fail(
  walk: Walk,
  problem: string,
  code: ErrorCode | null = null,
): Promise<void> {
  await walk.db.transaction(async (tx) => {
    await endRun(tx, walk, { state: 'FAILED', problem })
    if (walk.app.disconnectedAt === null)
      await askAdmins(tx, walk.app, `The sync of ${walk.app.name} failed: ${problem}`, FAILED_HELP)
  })
  logUnsuccessfulRun(walk, { code }, 'a sync failed; its run has the reason')
}

/** Logs a run that did not succeed. */
export const logUnsuccessfulRun = (
  { app, run, parts }: Walk,
  about: Record<string, string | null>,
  words: string,
): void => parts.tell('warn', { app_id: app.id, run: run.id, phase: run.phase, ...about }, words)

const FAILED_HELP =
  'Fix this problem and start another sync with POST /apps/{id}/sync; the next successful sync completes this task.'

const openTasks = (app: AppRow) =>
  and(
    eq(tasks.domainId, app.domainId),
    eq(tasks.appId, app.id),
    eq(tasks.taskType, SYNC_TASK),
    eq(tasks.status, 'PENDING'),
  )

/** Opens the app's task about its syncs, or updates it if one is open. */
export async function askAdmins(
  tx: Db,
  app: AppRow,
  description: string,
  instructions: string,
): Promise<void> {
  const told = await tx
    .update(tasks)
    .set({ description, instructions })
    .where(openTasks(app))
    .returning({ id: tasks.id })
  if (told.length > 0) return
  await openErrorTask(tx, app.domainId, { taskType: SYNC_TASK, description, instructions, app })
}

/** Completes the app's task about its syncs. */
export async function settleSyncTask(tx: Db, app: AppRow): Promise<void> {
  const open = await tx.select().from(tasks).where(openTasks(app)).for('update')
  if (open.length === 0) return
  const ids = open.map(({ id }) => id)
  await tx.update(tasks).set({ status: 'COMPLETED' }).where(inArray(tasks.id, ids))
  await recordActivity(
    tx,
    { domainId: app.domainId, userId: null },
    'TASK_ACTION_PERFORMED',
    open.map(({ taskType, id }) => ({ target_type: 'Task', name: taskType, id })),
    { action: 'complete', from: 'PENDING', to: 'COMPLETED' },
  )
}
