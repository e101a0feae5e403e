/** The accounts of somebody who leaves: each made unusable, and seen to be so; by hand where that cannot be. */

import { and, asc, eq, isNotNull, ne, sql } from 'drizzle-orm'
import { keptText } from '../../contract/kept-text.ts'
import type { Db } from '../../database/database.ts'
import { accounts, apps } from '../../database/schema/apps.ts'
import { offboardingSteps } from '../../database/schema/offboarding.ts'
import { users } from '../../database/schema/people.ts'
import { accessRequests, holders } from '../../database/schema/requests.ts'
import { tasks } from '../../database/schema/tasks.ts'
import type { RequestParts } from '../parts.ts'
import { GONE } from '../requests/account.ts'
import { doers } from '../requests/approvers.ts'
import { later } from '../requests/move.ts'
import { carrierOf, type Outcome } from '../requests/outcome.ts'
import { makeUnusable } from '../requests/remove.ts'
import { openTask } from '../tasks/open.ts'
import type { OffboardingRow } from './move.ts'

type StepRow = typeof offboardingSteps.$inferSelect

/** How often a step is tried before people are asked, and the pauses between, in milliseconds. */
const MAX_ATTEMPTS = 6
const FIRST_PAUSE_MS = 2000
const LONGEST_PAUSE_MS = 600_000

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
  parts: RequestParts,
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
    const over =
      step.state === 'manual' ? await isSettled(db, step) : await doStep(db, row, step, now, parts)
    if (!over) left += 1
  }
  return left === 0 ? 'done' : 'left'
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
  parts: RequestParts,
): Promise<boolean> {
  if (step.wakeAt > now || (await isBusy(db, row.userId, step.appId))) return false
  const outcome = await deactivate(db, step, parts)
  return settleStep(db, row, step, outcome, parts)
}

/** Whether a request is still being carried out for the person in the app: what it gives or takes comes first. */
async function isBusy(db: Db, userId: string, appId: string): Promise<boolean> {
  const [busy] = await db
    .select({ id: accessRequests.id })
    .from(accessRequests)
    .where(
      and(
        eq(accessRequests.carriedAppId, appId),
        eq(accessRequests.targetUserId, userId),
        isNotNull(accessRequests.todo),
      ),
    )
    .limit(1)
  return busy !== undefined
}

async function deactivate(
  db: Db,
  { appId, account }: StepRow,
  parts: RequestParts,
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
  const carrier = carrierOf(parts, app)
  if (!('app' in carrier)) return { ok: false, end: 'retry', problem: carrier.problem }
  return makeUnusable(carrier, account, 'deactivate_account')
}

async function settleStep(
  db: Db,
  row: OffboardingRow,
  step: StepRow,
  outcome: Outcome,
  parts: RequestParts,
): Promise<boolean> {
  const change = (tx: Db, values: Partial<StepRow>) =>
    tx.update(offboardingSteps).set(values).where(eq(offboardingSteps.id, step.id))
  if (outcome.ok) {
    await change(db, { state: 'done', problem: null })
    return true
  }
  const { problem } = outcome
  const attempts = step.attempts + 1
  if (outcome.end === 'retry' && attempts < MAX_ATTEMPTS) {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** step.attempts, LONGEST_PAUSE_MS)
    await change(db, { attempts, problem, wakeAt: later(await parts.now(db), pauseMs) })
    return false
  }
  await db.transaction(async (tx) => {
    const taskId = await askForHands(tx, row, step, problem)
    await change(tx, { state: 'manual', attempts, problem, taskId })
  })
  return false
}

async function askForHands(
  tx: Db,
  { domainId, userId }: OffboardingRow,
  { appId, account }: StepRow,
  problem: string,
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
      instructions: `It could not be done automatically: ${problem}`,
      appId,
      targetUserId: userId,
      assignees: { userIds, groupIds },
    },
  )
}
