/** Background job of offboardings. */
import { and, asc, eq, inArray, isNotNull, lte, or, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { type OffboardingRow, userOffboardings } from '../../database/schema/offboarding.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { hasRow } from '../kernel/has-row.ts'
import { later } from '../kernel/jobs/retry-schedules.ts'
import { statesThatAre } from '../requests/machine/states.ts'
import { collectAccounts, countLeftAccounts, runSteps } from './accounts.ts'
import { applyToOffboarding, failOffboarding, lockOffboarding } from './apply.ts'
import { beginOffboarding } from './begin.ts'

/** Maximum number of due offboardings returned at once. */
const MAX_DUE = 50
/** Pause between two runs of an offboarding, in milliseconds: a tenth of its age, within these bounds. */
const SHORTEST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000

async function due(db: Db): Promise<string[]> {
  const rows = await db
    .select({ id: userOffboardings.id })
    .from(userOffboardings)
    .where(
      and(isNotNull(userOffboardings.wakeAt), lte(userOffboardings.wakeAt, sql`clock_timestamp()`)),
    )
    .orderBy(asc(userOffboardings.wakeAt))
    .limit(MAX_DUE)
  return rows.map(({ id }) => id)
}

const turnOf = (id: string): string => `offboarding ${id}`

async function handle(db: Db, id: string, parts: RequestContext): Promise<void> {
  const row = await dueNow(db, id, parts)
  if (row?.status === 'SCHEDULED') await beginOffboarding(db, id, parts)
  const begun = await dueNow(db, id, parts)
  if (begun?.status === 'IN_PROGRESS')
    await goOn(db, begun, { ...parts, cause: { kind: 'offboarding', id } })
}

/** Returns the offboarding if it is due. */
async function dueNow(
  db: Db,
  id: string,
  parts: RequestContext,
): Promise<OffboardingRow | undefined> {
  const [row] = await db
    .select()
    .from(userOffboardings)
    .where(and(eq(userOffboardings.id, id), lte(userOffboardings.wakeAt, await parts.now(db))))
  return row
}

async function goOn(db: Db, row: OffboardingRow, parts: RequestContext): Promise<void> {
  // Checked first: an account that a request creates before this point is collected below.
  const waits = await hasOpenRequests(db, row)
  await collectAccounts(db, row)
  const steps = await runSteps(db, row, parts)
  if (waits || steps === 'left') return lookAgain(db, row, parts)
  await db.transaction(async (tx) => {
    const now = await parts.now(tx)
    const locked = await lockOffboarding(tx, row.id)
    if (locked?.status !== 'IN_PROGRESS') return
    const left = await countLeftAccounts(tx, locked)
    await applyToOffboarding(tx, locked, { kind: 'completed', left }, now)
  })
}

/** Reports whether requests of the person still wait for the background or for manual work. */
async function hasOpenRequests(db: Db, { userId }: OffboardingRow): Promise<boolean> {
  return hasRow(
    db,
    accessRequests,
    eq(accessRequests.targetUserId, userId),
    or(
      isNotNull(accessRequests.pendingOperation),
      inArray(accessRequests.status, statesThatAre('asked', 'wanted', 'unwanted')),
    ),
  )
}

/** Puts the offboarding to sleep, unless it was woken during this run: it then stays due. */
async function lookAgain(
  db: Db,
  { id, scheduledAt, createdAt, wakeAt }: OffboardingRow,
  parts: RequestContext,
): Promise<void> {
  await db.transaction(async (tx) => {
    const now = await parts.now(tx)
    const ageMs = now.getTime() - (scheduledAt ?? createdAt).getTime()
    const pauseMs = Math.min(Math.max(ageMs / 10, SHORTEST_PAUSE_MS), MAX_PAUSE_MS)
    const locked = await lockOffboarding(tx, id)
    if (locked?.status !== 'IN_PROGRESS') return
    if (locked.wakeAt?.getTime() !== wakeAt?.getTime()) return
    await tx
      .update(userOffboardings)
      .set({ wakeAt: later(now, pauseMs) })
      .where(eq(userOffboardings.id, id))
  })
}

export const OFFBOARDING_JOB: JobHandler = { handle, turnOf, due, gaveUp: failOffboarding }
