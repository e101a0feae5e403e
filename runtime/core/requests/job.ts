/** Background job of access requests. */
import { and, asc, eq, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { hasNoJob } from '../../database/jobs.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { pairKey, pairOf } from '../provisioning/pair.ts'
import { beginDecisions } from './decide.ts'
import { provision, turnOf } from './provision.ts'
import { settleDefect } from './settle-failure.ts'

/** Maximum number of due requests returned at once: thousands of grants may expire in the same second. */
const MAX_DUE = 400

/**
 * Returns the keys of due requests. Leaves out keys that already have a job, perhaps waiting for its next
 * try, so that they do not hide others.
 */
async function due(db: Db, now?: Date): Promise<string[]> {
  const { carriedAppId, targetUserId, wakeAt, pendingOperation, fulfilment } = accessRequests
  // As a scalar subquery, the time is evaluated once and bounds the index scan.
  const at = now ? sql`${now.toISOString()}::timestamptz` : sql`(select clock_timestamp())`
  const rows = await db
    .select({ carriedAppId, targetUserId })
    .from(accessRequests)
    .where(
      and(
        isNotNull(wakeAt),
        lte(wakeAt, at),
        // Operations in a system that does not answer wait for the end of its outage, and are not examined
        // one by one.
        or(
          isNull(pendingOperation),
          sql`${pendingOperation} = 'check'`,
          sql`coalesce(${fulfilment}, '') = 'webhook'`,
          sql`not exists (select from app_outages where app_id = ${carriedAppId} and until > ${at})`,
        ),
        hasNoJob('access-requests', sql`${carriedAppId} || ' ' || ${targetUserId}`),
      ),
    )
    .orderBy(asc(wakeAt))
    .limit(MAX_DUE)
  return [...new Set(rows.map(pairKey))]
}

/** Asks people for each request with a pending operation. It is still tried every hour. */
async function gaveUp(db: Db, key: string, problem: string, parts: CoreContext): Promise<void> {
  const pair = pairOf(key)
  await db.transaction(async (tx) => {
    const rows = await tx
      .select()
      .from(accessRequests)
      .where(
        and(
          eq(accessRequests.carriedAppId, pair.carriedAppId),
          eq(accessRequests.targetUserId, pair.targetUserId),
          isNotNull(accessRequests.pendingOperation),
        ),
      )
      .for('update')
    const now = await parts.now(tx)
    for (const request of rows) {
      if (request.pendingOperation === 'check') await beginDecisions(tx, request, null, parts)
      else await settleDefect(tx, request, problem, parts, now)
    }
  })
}

const appOf = (key: string): string => pairOf(key).carriedAppId

export const REQUEST_JOB: JobHandler = { handle: provision, turnOf, appOf, due, gaveUp }
