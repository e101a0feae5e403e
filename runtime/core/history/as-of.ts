/** Moments in the history: the spans that contain one, and the range in which the history is known. */
import { and, gt, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type CoreError, invalidAt } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { historyStart } from '../../database/schema/history.ts'
import { databaseTime } from '../../database/transactions.ts'

/**
 * Current time, truncated to milliseconds like moments on the wire, so that every returned moment can be
 * queried. Within a transaction, it is the time of its start.
 */
export const MOMENT: SQL = sql`date_trunc('milliseconds', now())`

/** Returns the beginning of the history. */
async function knownSince(db: Db): Promise<Date> {
  const [row] = await db.select({ since: historyStart.since }).from(historyStart)
  if (!row?.since) throw new Error('the table history_start has no row; a migration wrote it')
  return row.since
}

/**
 * Checks that a moment lies within the history.
 *
 * @throws CoreError `invalid` for a moment in the future or before the history
 */
export async function checkMoment(db: Db, asOf: Date): Promise<void> {
  if (asOf > (await databaseTime(db))) throw wrong('this time is in the future')
  const since = await knownSince(db)
  if (asOf < since)
    throw wrong(`access is recorded since ${since.toISOString()}; ask for that time or later`)
}

const wrong = (msg: string): CoreError => invalidAt(['query', 'as_of'], `Value error, ${msg}`)

/**
 * A past moment, or 'now', which selects spans that have not ended. No clock is read for 'now', since it may
 * have been set back.
 */
export type Moment = Date | 'now'

/** Returns the condition that a span contains a moment. `span` is its name in the query. */
export function spanHolds(span: string, at: Moment): SQL {
  const [since, until] = [sql.raw(`${span}.since`), sql.raw(`${span}.until`)]
  if (at === 'now') return sql`${until} is null`
  return sql`${since} <= ${at} and (${until} is null or ${until} > ${at})`
}

type Span = { since: PgColumn; until: PgColumn }

/** Returns the condition that a span contains a moment. It includes its beginning and excludes its end. */
export const holdsAt = ({ since, until }: Span, at: Date): SQL | undefined =>
  and(lte(since, at), or(isNull(until), gt(until, at)))
