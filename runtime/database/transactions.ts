/**
 * One transaction on one connection. It costs two messages in addition to its work's statements: one begins
 * it and reads the time, one sends the collected writes and commits.
 */
import { NodePgTransaction } from 'drizzle-orm/node-postgres'
import { PgDialect } from 'drizzle-orm/pg-core'
import { escapeIdentifier, escapeLiteral, type PoolClient } from 'pg'
import { errorOf } from '../contract/errors/thrown.ts'
import { together } from './batched-lookups.ts'
import type { Beginning, Db } from './database.ts'
import { collectDeferred } from './deferred-writes.ts'
import { connectionOf } from './prepared.ts'
import { sessionOn } from './table-rows.ts'

type NoSchema = Record<string, never>
type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

const dialect = new PgDialect()

/**
 * Begins a transaction, runs its work, and commits. drizzle's own leaks the connection if `begin` fails.
 * An error of the work or of the commit rolls everything back.
 *
 * @param onLost called if the connection cannot be used any more
 * @throws the error of the work or the database. If the connection is lost at the commit, the transaction may
 * have been committed.
 */
export async function transact<T>(
  client: PoolClient,
  work: (tx: Tx) => Promise<T>,
  config: Beginning,
  onLost: (error: Error) => void,
): Promise<T> {
  const tx = new NodePgTransaction<NoSchema, NoSchema>(dialect, sessionOn(client), undefined)
  await begin(tx, client, config)
  try {
    const { result, statements } = await collectDeferred(tx, work)
    await client.query([...statements, 'commit'].join('; '))
    return result
  } catch (error) {
    // The server has rolled back, or does so once it notices. What the work reported counts.
    await client.query('rollback').catch((lost) => onLost(errorOf(lost)))
    throw error
  }
}

/**
 * Begins the transaction. One with an isolation level takes its snapshot at its first query, which is left to
 * the work.
 */
async function begin(tx: Db, client: PoolClient, config: Beginning): Promise<void> {
  const { isolationLevel, accessMode, settings = {} } = config
  const level = isolationLevel === undefined ? '' : `isolation level ${isolationLevel} `
  const first = `begin ${level}${accessMode ?? ''}`
  const set = Object.entries(settings).map(setLocal)
  // Several statements without parameters are one message, with a result for each.
  if (isolationLevel !== undefined) {
    await client.query([first, ...set].join('; '))
    return
  }
  const answers = await client.query([first, TIME, ...set].join('; '))
  // The cast: the types of pg know one result, but several statements return a list.
  const [, { rows }] = answers as unknown as [unknown, { rows: [{ now: Date }] }]
  moments.set(tx, { told: rows[0].now, atMs: performance.now() })
}

const setLocal = ([name, value]: [string, string]): string =>
  `set local ${escapeIdentifier(name)} to ${escapeLiteral(value)}`

const TIME = 'select clock_timestamp() as now'

/** All jobs and their calls read the time. Concurrent readers share one query. */
const askTime = together(
  async (db) => (await connectionOf(db).query<{ now: Date }>(TIME)).rows.map(({ now }) => now),
  () => '',
)

/** How long the time read in a transaction is extrapolated, in milliseconds. */
const COUNTED_MS = 1000
const moments = new WeakMap<Db, { told: Date; atMs: number }>()

/**
 * Returns the current time by the database's clock, which all its hosts share. A transaction reads it when it
 * begins and extrapolates. The result is never ahead of the database's clock.
 */
export async function databaseTime(db: Db): Promise<Date> {
  const known = moments.get(db)
  const sinceMs = known ? Math.floor(performance.now() - known.atMs) : COUNTED_MS
  if (known && sinceMs < COUNTED_MS) return new Date(known.told.getTime() + sinceMs)
  const [told = new Date(Number.NaN)] = await askTime(db, '')
  if (db instanceof NodePgTransaction) moments.set(db, { told, atMs: performance.now() })
  return told
}
