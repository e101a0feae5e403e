/** The background work of access requests. */
import { and, asc, eq, isNotNull, lte, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { hasNoJob } from '../../database/jobs.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import type { Duty } from '../background/background.ts'
import type { CoreParts } from '../parts.ts'
import { byHand, subjectOf, takeByHand } from './carried.ts'
import { carry, turnOf } from './carry.ts'
import { begin } from './decide.ts'
import { closeLeft } from './left.ts'
import { pairKey, pairOf } from './means.ts'

/** Most that are told to be due at once: what thousands hold may be over in the same second. */
const MAX_DUE = 400

/** Those of which a job waits already, perhaps for its next try, are left out: what is due behind them is told too. */
async function due(db: Db, now?: Date): Promise<string[]> {
  const { carriedAppId, targetUserId, wakeAt } = accessRequests
  const rows = await db
    .select({ carriedAppId, targetUserId })
    .from(accessRequests)
    .where(
      and(
        isNotNull(wakeAt),
        // As a question of its own the moment is asked once, and the index is read up to it only.
        lte(wakeAt, now ?? sql`(select clock_timestamp())`),
        hasNoJob('access-requests', sql`${carriedAppId} || ' ' || ${targetUserId}`),
      ),
    )
    .orderBy(asc(wakeAt))
    .limit(MAX_DUE)
  return [...new Set(rows.map(pairKey))]
}

/** What the host cannot do, people have to: each request that has something left to do becomes a task. */
async function gaveUp(db: Db, key: string, problem: string, parts: CoreParts): Promise<void> {
  const pair = pairOf(key)
  await db.transaction(async (tx) => {
    const rows = await tx
      .select()
      .from(accessRequests)
      .where(
        and(
          eq(accessRequests.carriedAppId, pair.carriedAppId),
          eq(accessRequests.targetUserId, pair.targetUserId),
          isNotNull(accessRequests.todo),
        ),
      )
      .for('update')
    for (const request of rows) {
      if (request.todo === 'check') await begin(tx, request, null, parts)
      else if (request.todo === 'remove') {
        await takeByHand(tx, request, problem, parts)
        await closeLeft(tx, request, parts)
      } else await byHand(tx, request, (await subjectOf(tx, request)).config, problem)
    }
  })
}

const appOf = (key: string): string => pairOf(key).carriedAppId

export const REQUEST_DUTY: Duty = { handle: carry, turnOf, appOf, due, gaveUp }
