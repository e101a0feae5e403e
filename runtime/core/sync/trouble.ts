/** What goes wrong in a run: tried again with growing pauses, or the end, with a task for the app's admins. */

import { and, eq, inArray, sql } from 'drizzle-orm'
import type { ErrorCode } from '../../contract/error-codes.ts'
import { plainWords } from '../../contract/plain-words.ts'
import type { Db } from '../../database/database.ts'
import { syncRuns } from '../../database/schema/sync.ts'
import { tasks } from '../../database/schema/tasks.ts'
import { recordActivity } from '../activity/activity.ts'
import type { AppRow } from '../apps/apps.ts'
import type { ConnectorAnswer } from '../apps/connectors.ts'
import { openErrorTask } from '../tasks/error.ts'
import { endRun, LeaseLost, type Walk } from './runs.ts'

/** Something went wrong outside of us; in words without secrets. */
export class Trouble extends Error {
  /** Whether somebody must do something first. */
  readonly final: boolean
  /** The connector's code; null for what is none of its. */
  readonly code: ErrorCode | null
  /** Whether a page was larger than is taken. */
  readonly isTooLarge: boolean

  constructor(
    words: string,
    { final = false, code = null as ErrorCode | null, isTooLarge = false } = {},
  ) {
    super(words)
    this.final = final
    this.code = code
    this.isTooLarge = isTooLarge
  }
}

/** Trying again does not help against these. */
const FINAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unauthorized',
  'bad_request',
  'permission_denied',
  'not_implemented',
  'unsupported_operation',
  'unknown_value',
  'invalid_value',
  'unauthenticated',
  'authentication_expired',
  'creds_revoked',
  'integration_missing_parameter',
])

type Failure = Extract<ConnectorAnswer, { ok: false }>

/** How a connector's error counts. */
export function troubleOf(capability: string, { error, isTooLarge = false }: Failure): Trouble {
  const { error_code: code, message } = error
  return new Trouble(`${capability}: ${plainWords(message).slice(0, 800)} (${code})`, {
    final: FINAL.has(code as ErrorCode) || /would never end|goes on after/.test(message),
    code: code as ErrorCode,
    isTooLarge,
  })
}

/** Tries in a row before a run fails, and the pauses between them, in seconds. */
const MOST_ATTEMPTS = 8
const FIRST_PAUSE_SECONDS = 5
const LONGEST_PAUSE_SECONDS = 600

/** Notes a failure: the run goes on later, or has failed. */
export async function stumble(walk: Walk, trouble: Trouble): Promise<void> {
  const { run, db, lease } = walk
  if (trouble.isTooLarge) return shrink(walk, trouble)
  const attempts = run.attempts + 1
  if (trouble.final || attempts >= MOST_ATTEMPTS) return fail(walk, trouble.message)
  const pause = Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (attempts - 1))
  // A page that takes too long may be too large; only a sequence that has not begun may change its size.
  const smaller = trouble.code === 'request_timeout' && run.pageToken === null && run.pageSize > 50
  const rows = await db
    .update(syncRuns)
    .set({
      attempts,
      problem: trouble.message,
      nextTryAt: sql`clock_timestamp() + ${pause} * interval '1 second'` as never,
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
  if (run.pageSize <= 1) return fail(walk, trouble.message)
  const smaller = { pageToken: null, pageSize: Math.max(1, Math.floor(run.pageSize / SHRINK)) }
  const rows = await db
    .update(syncRuns)
    .set({ ...smaller, problem: trouble.message, leaseBy: null, leaseUntil: null })
    .where(and(eq(syncRuns.id, run.id), eq(syncRuns.leaseBy, lease), eq(syncRuns.state, 'RUNNING')))
    .returning({ id: syncRuns.id })
  if (rows.length === 0) throw new LeaseLost('the run is no longer ours')
}

/** Ends a run in failure; what earlier runs brought stays as it was. */
export async function fail(walk: Walk, problem: string): Promise<void> {
  await walk.db.transaction(async (tx) => {
    await endRun(tx, walk, { state: 'FAILED', problem })
    if (walk.app.disconnectedAt === null)
      await askAdmins(tx, walk.app, `The sync of ${walk.app.name} failed: ${problem}`, FAILED_HELP)
  })
}

export const FAILED_HELP =
  'Put right what it says and start another sync with POST /apps/{id}/sync; the next one that succeeds completes this task.'

const TASK_TYPE = 'SYNC_ERROR'

const openTasks = (app: AppRow) =>
  and(
    eq(tasks.domainId, app.domainId),
    eq(tasks.appId, app.id),
    eq(tasks.taskType, TASK_TYPE),
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
  await openErrorTask(tx, app.domainId, { taskType: TASK_TYPE, description, instructions, app })
}

/** Completes the app's task about its syncs. */
export async function settle(tx: Db, app: AppRow): Promise<void> {
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
