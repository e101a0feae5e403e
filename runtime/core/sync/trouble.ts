/** What goes wrong in a run: tried again with growing pauses, or the end, with a task for the app's admins. */

import { and, eq, inArray, sql } from 'drizzle-orm'
import type { ErrorCode } from '../../contract/errors/error-codes.ts'
import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import { syncRuns } from '../../database/schema/sync.ts'
import { tasks } from '../../database/schema/tasks.ts'
import { noteAway } from '../catalogue/apps/outages.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import type { ConnectorAnswer } from '../kernel/context/connectors.ts'
import { faultOf } from '../kernel/faults.ts'
import { pauseMs, TRIES } from '../kernel/jobs/tries.ts'
import { plainWords } from '../kernel/plain-words.ts'
import { openErrorTask } from '../tasks/error-task.ts'
import { endRun, LeaseLost, type Walk } from './runs.ts'

type About = {
  final?: boolean
  code?: ErrorCode | null
  isTooLarge?: boolean
  retryAfterMs?: number
}

/** Something went wrong outside of us; without secrets. */
export class Trouble extends Error {
  /** Whether a person must do something first. */
  readonly final: boolean
  /** The connector's code; null for what is none of its. */
  readonly code: ErrorCode | null
  /** Whether a page was larger than is taken. */
  readonly isTooLarge: boolean
  /** What the system asked for itself, in milliseconds. */
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

/** How a connector's error counts. */
export function troubleOf(capability: string, failure: Failure): Trouble {
  const { error, retryAfterMs, reason } = failure
  const { error_code: code, message } = error
  const { reach, credentials } = faultOf(code)
  return new Trouble(`${capability}: ${plainWords(message).slice(0, 800)} (${code})`, {
    final:
      credentials === true ||
      // What vanished between two pages is not listed by the next try.
      (reach === 'refused' && code !== 'not_found') ||
      reason === 'paging_circles' ||
      reason === 'paging_endless',
    code,
    isTooLarge: reason === 'reply_too_large',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** Notes a failure: the run goes on later, or has failed. */
export async function stumble(walk: Walk, trouble: Trouble): Promise<void> {
  const { run, db, lease } = walk
  if (trouble.isTooLarge) return shrink(walk, trouble)
  if (trouble.final) return fail(walk, trouble.message, trouble.code)
  const away = await awayFor(walk, trouble)
  if (away !== null && away.forMs >= TRIES.sync.endAfterMs)
    return fail(walk, trouble.message, trouble.code)
  // An outage is no fault of the run: it waits as long as the app is paused, and that is not counted.
  const attempts = run.attempts + (away === null ? 1 : 0)
  if (attempts >= TRIES.sync.endAfter) return fail(walk, trouble.message, trouble.code)
  const waitMs = away === null ? pauseMs('sync', attempts) : away.pauseMs
  // A page that takes too long may be too large; only a sequence that has not begun may change its size.
  const smaller = trouble.code === 'request_timeout' && run.pageToken === null && run.pageSize > 50
  const rows = await db
    .update(syncRuns)
    .set({
      attempts,
      problem: trouble.message,
      nextTryAt: sql`clock_timestamp() + ${waitMs} * interval '1 millisecond'`,
      ...(smaller ? { pageSize: Math.max(50, Math.floor(run.pageSize / 2)) } : {}),
      leaseBy: null,
      leaseUntil: null,
    })
    .where(and(eq(syncRuns.id, run.id), eq(syncRuns.leaseBy, lease), eq(syncRuns.state, 'RUNNING')))
    .returning({ id: syncRuns.id })
  if (rows.length === 0) throw new LeaseLost('the run is no longer ours')
}

/** How much smaller a page is asked for when one was too large: from 1000 to a single item in five tries. */
const SHRINK = 4

/** Begins the listing again with smaller pages, at once: a sequence that has begun keeps its size. */
async function shrink(walk: Walk, trouble: Trouble): Promise<void> {
  const { run, db, lease } = walk
  if (run.pageSize <= 1) return fail(walk, trouble.message, trouble.code)
  const smaller = { pageToken: null, pageSize: Math.max(1, Math.floor(run.pageSize / SHRINK)) }
  const rows = await db
    .update(syncRuns)
    .set({ ...smaller, problem: trouble.message, leaseBy: null, leaseUntil: null })
    .where(and(eq(syncRuns.id, run.id), eq(syncRuns.leaseBy, lease), eq(syncRuns.state, 'RUNNING')))
    .returning({ id: syncRuns.id })
  if (rows.length === 0) throw new LeaseLost('the run is no longer ours')
}

/** Notes a system that does not answer; null for trouble of another kind. */
async function awayFor({ db, app, parts, gate }: Walk, { code, message, retryAfterMs }: Trouble) {
  if (code === null || faultOf(code).reach !== 'system') return null
  const now = await parts.now(db)
  const fault = { code, problem: message, retryAfterMs }
  const { since, until } = await noteAway(db, app, gate, fault, now, parts.tell)
  gate.probe = null
  return { pauseMs: until.getTime() - now.getTime(), forMs: now.getTime() - since.getTime() }
}

/** Ends a run in failure; what earlier runs brought stays as it was. */
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
  tellEnded(walk, { code }, 'a sync failed; its run says why')
}

/** Leaves a line in the log about a run that ended otherwise than well. */
export const tellEnded = (
  { app, run, parts }: Walk,
  about: Record<string, string | null>,
  words: string,
): void => parts.tell('warn', { app_id: app.id, run: run.id, phase: run.phase, ...about }, words)

const FAILED_HELP =
  'Put right what it says and start another sync with POST /apps/{id}/sync; the next one that succeeds completes this task.'

export const SYNC_TASK = 'SYNC_ERROR'

const openTasks = (app: AppRow) =>
  and(
    eq(tasks.domainId, app.domainId),
    eq(tasks.appId, app.id),
    eq(tasks.taskType, SYNC_TASK),
    eq(tasks.status, 'PENDING'),
  )

/** Opens the app's one task about its syncs, or says the newest in it. */
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
