/** Accounts of a leaving user. Each is made unusable and read back, by hand if that fails. */

import { and, asc, eq, isNotNull, isNull, notInArray, type SQL, sql } from 'drizzle-orm'
import type { TaskProgress } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import { accounts, apps } from '../../database/schema/apps.ts'
import {
  type OffboardingRow,
  offboardingSteps,
  type StepRow,
  userOffboardings,
} from '../../database/schema/offboarding.ts'
import { users } from '../../database/schema/people.ts'
import { accessRequests, provisionedAccounts } from '../../database/schema/requests.ts'
import { callNow } from '../catalogue/apps/outages.ts'
import { lockedRow } from '../kernel/by-id.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { hasRow } from '../kernel/has-row.ts'
import { type Executor, execute } from '../machine/execute.ts'
import {
  isAccountThere,
  isUnmatchedAccountOf,
  matchAccountsByEmail,
} from '../provisioning/account.ts'
import {
  type FinalOutcome,
  failedCall,
  type StepOutcome,
  throughApp,
} from '../provisioning/client.ts'
import { addReadings, createWatch, type Watch } from '../provisioning/readings.ts'
import { makeUnusable } from '../provisioning/revoke.ts'
import { successorsOf } from '../provisioning/successors.ts'
import { manualWorkersOf } from '../requests/approvers.ts'
import { judgeFailure } from '../requests/machine/failure.ts'
import { namedAccount } from '../tasks/named-account.ts'
import { completeOpenTask, openTask } from '../tasks/open-task.ts'
import { progressOf } from '../tasks/progress.ts'
import { type StepEffect, type StepEvent, type StepWrite, stepTransition } from './machine/steps.ts'

/**
 * Query for the accounts of a user, as `app_id` and `account`. Includes accounts that a request was just
 * creating, and those that no sync has matched yet.
 */
export const knownAccounts = (userId: string): SQL => sql`
  select ${accounts.appId} as app_id, ${accounts.uniqueIdentifier} as account from ${accounts}
  where ${accounts.userId} = ${userId} and ${isAccountThere}
  union
  select ${accounts.appId}, ${accounts.uniqueIdentifier} from ${accounts} where ${isUnmatchedAccountOf(userId)}
  union
  select ${provisionedAccounts.appId}, ${provisionedAccounts.account} from ${provisionedAccounts}
  where ${provisionedAccounts.userId} = ${userId} and ${provisionedAccounts.account} is not null`

/** Adds a step for every account known now. */
export async function collectAccounts(db: Db, { id, domainId, userId }: OffboardingRow) {
  await matchAccountsByEmail(db, userId, null)
  await db.execute(sql`
    insert into ${offboardingSteps} (domain_id, offboarding_id, app_id, account)
    select ${domainId}::uuid, ${id}::uuid, app_id, account from (${knownAccounts(userId)}) as known
    on conflict do nothing`)
}

/** Works on the steps that are due, and checks those that people report as done. */
export async function runSteps(
  db: Db,
  row: OffboardingRow,
  parts: RequestContext,
): Promise<'done' | 'left'> {
  const steps = await db
    .select()
    .from(offboardingSteps)
    .where(openOf(row))
    .orderBy(asc(offboardingSteps.id))
  const now = await parts.now(db)
  const failures: unknown[] = []
  for (const step of steps) {
    parts.signal.throwIfAborted()
    try {
      await goOnWith(db, row, step, now, parts)
    } catch (error) {
      // The remaining accounts are still closed.
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  // Includes steps added by a step.
  return (await db.$count(offboardingSteps, openOf(row))) === 0 ? 'done' : 'left'
}

const openOf = ({ id }: OffboardingRow) =>
  and(eq(offboardingSteps.offboardingId, id), notInArray(offboardingSteps.state, ['done', 'left']))

/** Returns the number of accounts that people decided to leave. */
export const countLeftAccounts = (db: Db, { id }: OffboardingRow): Promise<number> =>
  db.$count(
    offboardingSteps,
    and(eq(offboardingSteps.offboardingId, id), eq(offboardingSteps.state, 'left')),
  )

/** Continues the step of a task at once, because it is retried or a person has resolved it. */
export async function wakeStep(
  tx: Db,
  taskId: string,
  why: 'retried' | 'dealt_with',
  now: Date,
): Promise<void> {
  const [step] = await tx
    .select()
    .from(offboardingSteps)
    .where(eq(offboardingSteps.taskId, taskId))
    .for('update')
  if (!step) return
  if (why === 'retried') await applyToStep(tx, step, { kind: 'retried' }, now)
  else
    await tx.update(offboardingSteps).set({ wakeAt: now }).where(eq(offboardingSteps.id, step.id))
  await callNow(tx, step.appId, now)
  await tx
    .update(userOffboardings)
    .set({ wakeAt: now })
    .where(
      and(eq(userOffboardings.id, step.offboardingId), eq(userOffboardings.status, 'IN_PROGRESS')),
    )
}

async function goOnWith(
  db: Db,
  row: OffboardingRow,
  step: StepRow,
  now: Date,
  parts: RequestContext,
): Promise<void> {
  const { task, by } = await progressOf(db, step)
  // A task that has expired counts as declined.
  if (task === 'declined' || (task === 'none' && step.state !== 'todo')) {
    const event = { kind: 'declined', userId: row.userId, by } as const
    return db.transaction((tx) => applyToStep(tx, step, event, now))
  }
  // A manual step is not tried; it is checked once a person reports it as done.
  if (step.state !== 'manual' || task === 'done') await doStep(db, row, step, task, now, parts)
}

async function doStep(
  db: Db,
  row: OffboardingRow,
  step: StepRow,
  task: TaskProgress,
  now: Date,
  parts: RequestContext,
): Promise<void> {
  if (step.wakeAt > now || (await isBusy(db, row.userId, step.appId))) return
  const watch = createWatch(now, parts)
  const outcome = await deactivate(db, row, step, watch, parts)
  const readings = addReadings(step.readings, watch.readings)
  if (watch.readings.length > 0)
    await db.update(offboardingSteps).set({ readings }).where(eq(offboardingSteps.id, step.id))
  const shown = watch.readings.at(-1)?.shown ?? null
  await settleStep(db, row, step, { outcome, task, shown }, parts)
}

/**
 * Reports whether a request for the person is being carried out in the app, in which case it goes first.
 * Failing requests are not waited for.
 */
async function isBusy(db: Db, userId: string, appId: string): Promise<boolean> {
  return hasRow(
    db,
    accessRequests,
    eq(accessRequests.carriedAppId, appId),
    eq(accessRequests.targetUserId, userId),
    isNotNull(accessRequests.pendingOperation),
    isNull(accessRequests.failingSince),
  )
}

async function deactivate(
  db: Db,
  row: OffboardingRow,
  { appId, account }: StepRow,
  watch: Watch,
  parts: RequestContext,
): Promise<StepOutcome> {
  const [app] = await db.select().from(apps).where(eq(apps.id, appId))
  // The app was deleted, and its steps with it.
  if (!app) return { ok: true, found: true }
  const byHand = (problem: string): StepOutcome => ({ ok: false, fault: 'manual', problem })
  if (app.connectorId === null) return byHand('the app has no connector')
  const [known] = await db
    .select({ type: accounts.accountType })
    .from(accounts)
    .where(and(eq(accounts.appId, appId), eq(accounts.uniqueIdentifier, account)))
  if (known && known.type !== 'USER')
    return byHand(`it is a ${known.type} account, which others may depend on`)
  return throughApp(db, app, parts, async (carrier) => {
    const outcome = await makeUnusable(watch.over(carrier), account, 'deactivate_account')
    if (!outcome.ok || !outcome.found) return outcome
    // An account found only by its address ends here: a system may make up others each time.
    if (!known && !(await isHeld(db, row.userId, appId, account))) return outcome
    const since = await successorsOf(db, carrier, account, row.userId)
    if (!since.ok) return failedCall(since.error)
    // Added before this step is done: if the host dies here, the next run finds the account missing again.
    await addSteps(db, row, appId, since.value)
    return outcome
  })
}

/** Reports whether a request was carried out in the account. */
async function isHeld(db: Db, userId: string, appId: string, account: string): Promise<boolean> {
  const mine = and(
    eq(provisionedAccounts.userId, userId),
    eq(provisionedAccounts.appId, appId),
    eq(provisionedAccounts.account, account),
  )
  return hasRow(db, provisionedAccounts, mine)
}

async function addSteps(
  db: Db,
  { id: offboardingId, domainId }: OffboardingRow,
  appId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const added = ids.map((account) => ({ domainId, offboardingId, appId, account }))
  await db.insert(offboardingSteps).values(added).onConflictDoNothing()
}

/** Result of a try: the outcome, the progress of the task, and the last reading (null if there is none). */
type Found<Outcome> = { outcome: Outcome; task: TaskProgress; shown: boolean | null }

async function settleStep(
  db: Db,
  row: OffboardingRow,
  step: StepRow,
  { outcome, ...found }: Found<StepOutcome>,
  parts: RequestContext,
): Promise<void> {
  // The app is paused: the step stays due, and is examined again with the whole offboarding.
  if (!outcome.ok && outcome.fault === 'paused') return
  const now = await parts.now(db)
  const event = eventOf(step, { outcome, ...found }, now)
  const isApplied = await db.transaction(async (tx) => {
    // A person retried it, or reported it as done, during the try: the next try, which is due, considers that.
    if (event.kind === 'failed' && (await wasWoken(tx, step))) return false
    await applyToStep(tx, step, event, now)
    return true
  })
  if (event.kind !== 'failed' || !isApplied) return
  const { verdict, isAsked } = event
  const words =
    verdict.kind === 'manual'
      ? 'an account of a leaving user could not be closed; a person has a task to do it by hand'
      : 'an account of a leaving user could not be closed yet; a person has a task, and Keyway keeps trying'
  if (verdict.kind === 'manual' || (verdict.tell && !isAsked))
    parts.tell('warn', { offboarding: row.id, app_id: step.appId }, words)
}

/** Locks a step, and reports whether it was woken since it was read. */
async function wasWoken(tx: Db, { id, wakeAt }: StepRow): Promise<boolean> {
  const known = await lockedRow(tx, offboardingSteps, id)
  return known?.wakeAt.getTime() !== wakeAt.getTime()
}

function eventOf(
  step: StepRow,
  { outcome, task, shown }: Found<FinalOutcome>,
  now: Date,
): StepEvent {
  if (outcome.ok) return { kind: 'deactivated' }
  const isSaid = task === 'done'
  if (isSaid && shown === null) return { kind: 'confirmed', unread: outcome.problem }
  const failing = { attempts: step.attempts, failingSince: null } as const
  const verdict = judgeFailure({ ...failing, pendingOperation: 'remove' }, outcome, now)
  const problem = isSaid && shown ? `${STILL_SHOWN}: ${outcome.problem}` : outcome.problem
  const failed = { kind: 'failed', problem, isAsked: task === 'asked' } as const
  // The person who reported it done is told at once.
  if (isSaid && verdict.kind === 'again') return { ...failed, verdict: { ...verdict, tell: true } }
  return { ...failed, verdict }
}

const STILL_SHOWN = 'a person marked it as done, but the system still shows the account in use'

/** Applies an event to a step. Only one host works on a step at a time. */
async function applyToStep(tx: Db, step: StepRow, event: StepEvent, now: Date): Promise<void> {
  await execute(tx, step, stepTransition(step, event, now), STEPS)
}

const STEPS: Executor<StepRow, StepWrite, StepEffect> = {
  async write(tx, step, write) {
    await tx.update(offboardingSteps).set(write).where(eq(offboardingSteps.id, step.id))
    return { ...step, ...write }
  },
  async carryOut(tx, step, effect) {
    if (effect.kind === 'close_task') return void (await completeOpenTask(tx, effect.taskId))
    const taskId = await openTaskProgress(tx, step, effect.problem, effect.goesOn)
    await tx.update(offboardingSteps).set({ taskId }).where(eq(offboardingSteps.id, step.id))
  },
}

async function openTaskProgress(
  tx: Db,
  { domainId, offboardingId, appId, account }: StepRow,
  problem: string,
  goesOn: boolean,
): Promise<string> {
  const [app] = await tx.select({ name: apps.name }).from(apps).where(eq(apps.id, appId))
  const [user] = await tx
    .select({ userId: users.id, email: users.email })
    .from(userOffboardings)
    .innerJoin(users, eq(users.id, userOffboardings.userId))
    .where(eq(userOffboardings.id, offboardingId))
  if (!user) throw new Error('the offboarding of a step is gone')
  const { userId } = user
  const named = await namedAccount(tx, appId, account)
  const parties = { domainId, appId, requesterId: null, targetUserId: userId }
  const { users: userIds, groups: groupIds } = await manualWorkersOf(tx, parties)
  return openTask(
    tx,
    { domainId, userId: null },
    {
      taskType: 'MANUAL_DEPROVISIONING',
      productArea: 'OFFBOARDING',
      description: `Close the account ${named} in ${app?.name ?? 'an app'} of ${user.email}, who is leaving.`,
      instructions: goesOn
        ? `Keyway could not do it yet: ${problem}\n\nKeyway keeps trying, and this task closes once it is done.`
        : `It could not be done automatically: ${problem}`,
      appId,
      targetUserId: userId,
      assignees: { userIds, groupIds },
    },
  )
}
