/** The accounts of somebody who leaves: each made unusable, and seen to be so; by hand where that cannot be. */

import { and, asc, eq, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accounts, apps } from '../../database/schema/apps.ts'
import { offboardingSteps, userOffboardings } from '../../database/schema/offboarding.ts'
import { users } from '../../database/schema/people.ts'
import { accessRequests, holders } from '../../database/schema/requests.ts'
import { tasks } from '../../database/schema/tasks.ts'
import { callNow } from '../catalogue/apps/outages.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { keptText } from '../kernel/kept-text.ts'
import { GONE } from '../provisioning/account.ts'
import { type Outcome, throughApp } from '../provisioning/client.ts'
import { makeUnusable } from '../provisioning/revoke.ts'
import { doers } from '../requests/approvers.ts'
import { judgeFailure } from '../requests/failure.ts'
import { openTask } from '../tasks/open-task.ts'
import type { OffboardingRow } from './move.ts'

type StepRow = typeof offboardingSteps.$inferSelect

/** Notes every account that is known now: also one that a request was just making. */
export async function collectAccounts(db: Db, { id, domainId, userId }: OffboardingRow) {
  await db.execute(sql`
    insert into ${offboardingSteps} (domain_id, offboarding_id, app_id, account)
    select ${domainId}::uuid, ${id}::uuid, app_id, account from (
      select ${accounts.appId} as app_id, ${accounts.uniqueIdentifier} as account from ${accounts}
      where ${accounts.userId} = ${userId}
        and coalesce(${accounts.status}, '') <> all(${sql.param([...GONE])}::text[])
      union
      select ${holders.appId}, ${holders.account} from ${holders}
      where ${holders.userId} = ${userId} and ${holders.account} is not null
    ) as known
    on conflict do nothing`)
}

/** Does the steps whose moment has come, and notes those that people have done. */
export async function doSteps(
  db: Db,
  row: OffboardingRow,
  parts: RequestContext,
): Promise<'done' | 'left'> {
  const steps = await db
    .select()
    .from(offboardingSteps)
    .where(and(eq(offboardingSteps.offboardingId, row.id), ne(offboardingSteps.state, 'done')))
    .orderBy(asc(offboardingSteps.id))
  const now = await parts.now(db)
  let left = 0
  for (const step of steps) {
    parts.signal.throwIfAborted()
    const settled = step.state !== 'todo' && (await isSettled(db, step))
    const over = settled || (step.state !== 'manual' && (await doStep(db, row, step, now, parts)))
    if (!over) left += 1
  }
  return left === 0 ? 'done' : 'left'
}

/** Tries a step again now whose task says so. */
export async function retryStep(tx: Db, taskId: string, now: Date): Promise<void> {
  const [step] = await tx
    .update(offboardingSteps)
    .set({ state: 'todo', attempts: 0, wakeAt: now, taskId: null })
    .where(eq(offboardingSteps.taskId, taskId))
    .returning()
  if (!step) return
  await callNow(tx, step.appId, now)
  await tx
    .update(userOffboardings)
    .set({ wakeAt: now })
    .where(
      and(eq(userOffboardings.id, step.offboardingId), eq(userOffboardings.status, 'IN_PROGRESS')),
    )
}

/** Whether somebody has dealt with the task of a step. */
async function isSettled(db: Db, { id, taskId }: StepRow): Promise<boolean> {
  const [task] = await db
    .select({ status: tasks.status })
    .from(tasks)
    .where(eq(tasks.id, taskId ?? id))
  const over = !task || ['COMPLETED', 'DISMISSED', 'EXPIRED'].includes(task.status)
  if (over)
    await db.update(offboardingSteps).set({ state: 'done' }).where(eq(offboardingSteps.id, id))
  return over
}

async function doStep(
  db: Db,
  row: OffboardingRow,
  step: StepRow,
  now: Date,
  parts: RequestContext,
): Promise<boolean> {
  if (step.wakeAt > now || (await isBusy(db, row.userId, step.appId))) return false
  const outcome = await deactivate(db, step, parts)
  return settleStep(db, row, step, outcome, parts)
}

/**
 * Whether a request is still being carried out for the person in the app: what it gives or takes comes first.
 * One that fails is not waited for.
 */
async function isBusy(db: Db, userId: string, appId: string): Promise<boolean> {
  const [busy] = await db
    .select({ id: accessRequests.id })
    .from(accessRequests)
    .where(
      and(
        eq(accessRequests.carriedAppId, appId),
        eq(accessRequests.targetUserId, userId),
        isNotNull(accessRequests.todo),
        isNull(accessRequests.failingSince),
      ),
    )
    .limit(1)
  return busy !== undefined
}

async function deactivate(
  db: Db,
  { appId, account }: StepRow,
  parts: RequestContext,
): Promise<Outcome> {
  const [app] = await db.select().from(apps).where(eq(apps.id, appId))
  // Gone together with the step.
  if (!app) return { ok: true, found: true }
  const byHand = (problem: string): Outcome => ({ ok: false, end: 'manual', problem })
  if (app.connectorId === null) return byHand('the app has no connector')
  const [known] = await db
    .select({ type: accounts.accountType })
    .from(accounts)
    .where(and(eq(accounts.appId, appId), eq(accounts.uniqueIdentifier, account)))
  if (known && known.type !== 'USER')
    return byHand(`it is a ${known.type} account, which others may depend on`)
  return throughApp(db, app, parts, (carrier) =>
    makeUnusable(carrier, account, 'deactivate_account'),
  )
}

async function settleStep(
  db: Db,
  row: OffboardingRow,
  step: StepRow,
  outcome: Outcome,
  parts: RequestContext,
): Promise<boolean> {
  const change = (tx: Db, values: Partial<StepRow>) =>
    tx.update(offboardingSteps).set(values).where(eq(offboardingSteps.id, step.id))
  if (outcome.ok) {
    await db.transaction(async (tx) => {
      await change(tx, { state: 'done', problem: null })
      if (step.taskId !== null) await closeTask(tx, step.taskId)
    })
    return true
  }
  // It stays due, and is looked at again with all of the offboarding.
  if (outcome.end === 'paused') return false
  const failing = { todo: 'remove', attempts: step.attempts, failingSince: null } as const
  const verdict = judgeFailure(failing, outcome, await parts.now(db))
  const { problem } = outcome
  const { tell } = parts
  if (verdict.kind === 'again') {
    const { attempts, wakeAt } = verdict
    const told = verdict.tell && step.taskId === null
    await db.transaction(async (tx) => {
      const asked = told
        ? { state: 'told' as const, taskId: await askForHands(tx, row, step, problem, true) }
        : {}
      await change(tx, { attempts, problem, wakeAt, ...asked })
    })
    if (told)
      tell(
        'warn',
        { offboarding: row.id, app_id: step.appId },
        'an account of somebody who leaves could not be taken so far; somebody has a task, and it is tried again',
      )
    return false
  }
  await db.transaction(async (tx) => {
    if (step.taskId !== null) await closeTask(tx, step.taskId)
    const taskId = await askForHands(tx, row, step, problem, false)
    await change(tx, { state: 'manual', attempts: step.attempts + 1, problem, taskId })
  })
  tell(
    'warn',
    { offboarding: row.id, app_id: step.appId },
    'an account of somebody who leaves could not be taken; somebody has a task to do it by hand',
  )
  return false
}

/** Nobody has to do it any more. */
async function closeTask(tx: Db, taskId: string): Promise<void> {
  await tx
    .update(tasks)
    .set({ status: 'COMPLETED' })
    .where(and(eq(tasks.id, taskId), inArray(tasks.status, ['PENDING', 'ACCEPTED', 'BLOCKED'])))
}

async function askForHands(
  tx: Db,
  { domainId, userId }: OffboardingRow,
  { appId, account }: StepRow,
  problem: string,
  goesOn: boolean,
): Promise<string> {
  const [app] = await tx.select({ name: apps.name }).from(apps).where(eq(apps.id, appId))
  const [user] = await tx.select({ email: users.email }).from(users).where(eq(users.id, userId))
  const parties = { domainId, appId, requesterId: null, targetUserId: userId }
  const { users: userIds, groups: groupIds } = await doers(tx, parties)
  return openTask(
    tx,
    { domainId, userId: null },
    {
      taskType: 'MANUAL_DEPROVISIONING',
      taskCategory: 'DEPROVISIONING',
      productArea: 'OFFBOARDING',
      description: `Take the account ${keptText(account, 200)} in ${app?.name ?? 'an app'} from ${user?.email ?? 'somebody'}, who leaves.`,
      instructions: goesOn
        ? `It could not be done so far: ${problem}\n\nIt is tried again by itself, and this task closes once it is done.`
        : `It could not be done automatically: ${problem}`,
      appId,
      targetUserId: userId,
      assignees: { userIds, groupIds },
    },
  )
}
