/**
 * The database for the rest of the runtime: the handle for queries, the row of a result, and the open
 * connection.
 */
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { PgTransactionConfig } from 'drizzle-orm/pg-core'
import type { AnswerWatch } from './database-watch.ts'
import type { SharedClock } from './shared-clock.ts'

export type Db = NodePgDatabase

/**
 * Returns the row that a statement with `returning` has written.
 * @throws Error if there is none, which is a defect in Keyway
 */
export function written<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('a statement has written no row')
  return row
}

/**
 * Returns the row of a statement that has exactly one.
 * @throws Error if there is none
 */
export const one = <T>(rows: readonly T[]): T => written(rows[0])

/** Connections of this host, and statements that wait for one. */
export type Connections = { busy: number; idle: number; waiting: number }

export type Database = {
  db: Db
  /** Id of this deployment's only domain. */
  domainId: string
  /** Returns what is wrong with the database as text for /readyz, or null while it serves. */
  waitingFor: AnswerWatch['words']
  connections(): Connections
  now: SharedClock['now']
  /** Listens on a channel. The returned function stops listening. */
  listen(channel: string, hear: (said: string | null) => void): () => Promise<void>
  close(): Promise<void>
}

/** Options for the beginning of a transaction. */
export type Beginning = PgTransactionConfig & {
  /** Settings by PostgreSQL's names. They hold until the transaction ends and cost no extra message. */
  settings?: Readonly<Record<string, string>>
  /** Prevents a retry if contention aborts the transaction. */
  once?: true
}
