/** A moment in the history: which spans hold it, and whether anything is known of it. */
import { and, gt, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type CoreError, invalidAt } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { historyStart } from '../../database/schema/history.ts'
import { databaseTime } from '../../database/transactions.ts'

/** Now, in milliseconds, as moments are told on the wire: what is told can be asked for. In a transaction, when it began. */
export const MOMENT: SQL = sql`date_trunc('milliseconds', now())`

/** Since when it is known what was held. */
async function knownSince(db: Db): Promise<Date> {
  const [row] = await db.select({ since: historyStart.since }).from(historyStart)
  if (!row?.since) throw new Error('the table history_start has no row; a migration wrote it')
  return row.since
}

/** @throws CoreError invalid for a moment that has not come, or that lies before the history. */
export async function checkMoment(db: Db, asOf: Date): Promise<void> {
  if (asOf > (await databaseTime(db))) throw wrong('this moment has not come yet')
  const since = await knownSince(db)
  if (asOf < since)
    throw wrong(`what was held is known since ${since.toISOString()}; ask for that moment or later`)
}

const wrong = (msg: string): CoreError => invalidAt(['query', 'as_of'], `Value error, ${msg}`)

/** A past moment, or 'now': whatever has not ended. No clock is asked for it, since it may have gone back. */
export type Moment = Date | 'now'

/** A condition: a span contains a moment; `span` is its name in the query. */
export function spanHolds(span: string, at: Moment): SQL {
  const [since, until] = [sql.raw(`${span}.since`), sql.raw(`${span}.until`)]
  if (at === 'now') return sql`${until} is null`
  return sql`${since} <= ${at} and (${until} is null or ${until} > ${at})`
}

type Span = { since: PgColumn; until: PgColumn }

/** Whether a span holds a moment: its beginning belongs to it, its end does not. */
export const holdsAt = ({ since, until }: Span, at: Date): SQL | undefined =>
  and(lte(since, at), or(isNull(until), gt(until, at)))
