/**
 * Outages: an app whose system does not answer is paused as a whole. One call at a time probes whether it is
 * back. All other work that needs the system waits, and continues when it is.
 */

import { and, eq, inArray, lte, sql } from 'drizzle-orm'
import type { ErrorCode } from '../../../contract/errors/error-codes.ts'
import { OPEN_TASKS } from '../../../contract/models/task.ts'
import type { TaskType } from '../../../contract/models/task-type.ts'
import type { Db } from '../../../database/database.ts'
import { appOutages, type apps } from '../../../database/schema/apps.ts'
import { tasks } from '../../../database/schema/tasks.ts'
import { recordActivity } from '../../kernel/audit/activity.ts'
import type { Tell } from '../../kernel/context/context.ts'
import { faultOf } from '../../kernel/faults.ts'
import { later, pauseMs, RETRY_SCHEDULES } from '../../kernel/jobs/retry-schedules.ts'
import { keptText } from '../../kernel/kept-text.ts'
import { openErrorTask } from '../../tasks/error-task.ts'
import { completeOpenTask } from '../../tasks/open-task.ts'

type AppRow = Pick<
  typeof apps.$inferSelect,
  'id' | 'domainId' | 'name' | 'adminUserIds' | 'adminGroupIds'
>

/** A failure that concerns the whole system. */
export type SystemFault = {
  code: ErrorCode
  /** Description of the failure, without secrets. */
  problem: string
  /** Pause that the system asked for (`Retry-After`), in milliseconds. */
  retryAfterMs?: number
}

/** Maximum duration of a probe, in milliseconds. After that, another caller may probe. */
const PROBE_MS = 120_000
/** Number of failed attempts that confirm an outage. The end of a confirmed outage wakes all waiting work. */
const CONFIRMED = 2

export const OUTAGE_TASK = 'APP_NOT_ANSWERING' satisfies TaskType

/** Permission to call an app. `probe` is the deadline of this caller's probe, or null if it makes none. */
export type Gate = { open: true; probe: Date | null } | { open: false; until: Date }

/** Requests permission to call an app's system. */
export async function requestCall(db: Db, { id: appId }: { id: string }, now: Date): Promise<Gate> {
  const [outage] = await db.select().from(appOutages).where(eq(appOutages.appId, appId))
  if (!outage) return { open: true, probe: null }
  if (outage.until > now) return { open: false, until: outage.until }
  const until = later(now, PROBE_MS)
  const claimed = await db
    .update(appOutages)
    .set({ until })
    .where(and(eq(appOutages.appId, appId), lte(appOutages.until, now)))
    .returning({ appId: appOutages.appId })
  return claimed.length > 0 ? { open: true, probe: until } : { open: false, until }
}

/** Releases a probe that made no call, so that another caller can probe. A newer probe is not affected. */
export async function releaseProbe(
  db: Db,
  { id }: { id: string },
  probe: Date,
  now: Date,
): Promise<void> {
  await db
    .update(appOutages)
    .set({ until: now })
    .where(and(eq(appOutages.appId, id), eq(appOutages.until, probe)))
}

/**
 * Records that a system did not answer. An outage is reported once it is confirmed: a single failed call may
 * be an accident.
 *
 * @returns the time since which it has not answered, and the time of the next call
 */
export async function recordOutage(
  db: Db,
  app: AppRow,
  { probe }: { probe: Date | null },
  { code, problem, retryAfterMs = 0 }: SystemFault,
  now: Date,
  toLog: Tell,
): Promise<{ since: Date; until: Date }> {
  const { credentials = false } = faultOf(code)
  const { begins, since, until } = await db.transaction(async (tx) => {
    const [row] = await tx
      .select()
      .from(appOutages)
      .where(eq(appOutages.appId, app.id))
      .for('update')
    const attempts = (row?.attempts ?? 0) + (probe || !row ? 1 : 0)
    const pause = pauseMs(credentials ? 'credentials' : 'outage', attempts)
    const own = later(now, Math.max(pause, retryAfterMs))
    // Calls that were in progress when the pause began do not shorten it, and extend it only by a
    // `Retry-After` of their own.
    const until =
      row && !probe ? later(now, Math.max(retryAfterMs, row.until.getTime() - +now)) : own
    const values = { until, attempts, code, problem: keptText(problem, 1000) }
    const [noted] = await tx
      .insert(appOutages)
      .values({ appId: app.id, domainId: app.domainId, since: now, ...values })
      .onConflictDoUpdate({ target: appOutages.appId, set: values })
      .returning()
    const lasts = now.getTime() - (noted?.since ?? now).getTime()
    if (
      noted &&
      noted.taskId === null &&
      (lasts >= RETRY_SCHEDULES.outage.tellAfterMs || credentials)
    ) {
      const taskId = await tell(tx, app, noted)
      await tx.update(appOutages).set({ taskId }).where(eq(appOutages.appId, app.id))
    }
    const begins = attempts === CONFIRMED && (row?.attempts ?? 0) < CONFIRMED
    return { begins, since: noted?.since ?? now, until }
  })
  if (begins)
    toLog(
      'warn',
      { app_id: app.id, code, since: since.toISOString() },
      'the system of an app does not answer; the app is paused until it does',
    )
  return { since, until }
}

function tell(tx: Db, app: AppRow, outage: typeof appOutages.$inferSelect): Promise<string> {
  const { since, problem, code } = outage
  return openErrorTask(tx, app.domainId, {
    taskType: OUTAGE_TASK,
    description: `${app.name} has not answered since ${since.toISOString()}: ${problem}`,
    instructions: faultOf(code).credentials
      ? `Reconnect it with PUT /apps/${app.id}. Pending grants and revocations then continue automatically. Until then Keyway tries to sign in less and less often, down to once every half hour, so that the system does not lock the account. “retry” tries now.`
      : 'Keyway tries again every minute. Pending grants and revocations continue automatically once the system answers. “retry” tries now.',
    app,
  })
}

/** Records that a system answers again. The outage ends, and the work that waited for it continues. */
export async function recordRecovery(
  db: Db,
  app: Pick<AppRow, 'id' | 'domainId'>,
  now: Date,
  toLog: Tell,
): Promise<void> {
  const over = await db.transaction(async (tx) => {
    const [ended] = await tx.delete(appOutages).where(eq(appOutages.appId, app.id)).returning()
    if (!ended) return null
    await wakeSyncs(tx, app.id, now)
    if (ended.attempts >= CONFIRMED) await wakeFailed(tx, app.id, now)
    if (ended.taskId !== null) await settle(tx, app.domainId, ended.taskId)
    return ended
  })
  if (over && over.attempts >= CONFIRMED)
    toLog(
      'info',
      { app_id: app.id, seconds: Math.round((now.getTime() - over.since.getTime()) / 1000) },
      'the system of an app answers again; paused work continues',
    )
}

/**
 * Ends the pause of an app because a person corrected something. Does nothing if the app is not paused. An
 * open task stays the task of the outage and ends with it. If people have closed it, the next failure opens
 * another one.
 */
export async function callNow(tx: Db, appId: string, now: Date): Promise<void> {
  const stillOpen = tx
    .select({ id: tasks.id })
    .from(tasks)
    .where(and(eq(tasks.id, appOutages.taskId), inArray(tasks.status, OPEN_TASKS)))
  const paused = await tx
    .update(appOutages)
    .set({ until: now, taskId: sql`(${stillOpen})` })
    .where(eq(appOutages.appId, appId))
    .returning({ appId: appOutages.appId })
  if (paused.length === 0) return
  await wakeSyncs(tx, appId, now)
  await wakeFailed(tx, appId, now)
}

/** Wakes work that failed in the outage, except work in progress, which finds out by itself. */
async function wakeFailed(tx: Db, appId: string, now: Date): Promise<void> {
  const at = sql`${now.toISOString()}::timestamptz`
  await tx.execute(sql`
    update access_requests set wake_at = ${at} where id in (
      select id from access_requests
      where carried_app_id = ${appId} and todo is not null and failing_since is not null and wake_at > ${at}
      for update skip locked)`)
  await tx.execute(sql`
    update offboarding_steps set wake_at = ${at} where id in (
      select id from offboarding_steps
      where app_id = ${appId} and state <> 'done' and attempts > 0 and wake_at > ${at}
      for update skip locked)`)
}

/** Wakes sync runs, which wait while the app is paused or being probed. */
async function wakeSyncs(tx: Db, appId: string, now: Date): Promise<void> {
  const at = sql`${now.toISOString()}::timestamptz`
  await tx.execute(sql`
    update sync_runs set next_try_at = null where id in (
      select id from sync_runs where app_id = ${appId} and state = 'RUNNING' and next_try_at > ${at}
      for update skip locked)`)
}

async function settle(tx: Db, domainId: string, taskId: string): Promise<void> {
  if (!(await completeOpenTask(tx, taskId))) return
  const target = { target_type: 'Task', name: OUTAGE_TASK, id: taskId }
  const change = { action: 'complete', from: 'PENDING', to: 'COMPLETED' }
  await recordActivity(tx, { domainId, userId: null }, 'TASK_ACTION_PERFORMED', [target], change)
}
